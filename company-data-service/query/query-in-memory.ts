/** Filters and sorts lists that are in memory. */
import type { FieldKind, Order, Test } from './fields';
import type { Condition } from './parse-query';

type Item = Readonly<Record<string, unknown>>;
type Value = string | number | boolean;

export function matches(item: Item, condition: Condition<Test>): boolean {
  switch (condition.kind) {
    case 'all':
      return condition.conditions.every((part) => matches(item, part));
    case 'any':
      return condition.conditions.some((part) => matches(item, part));
    case 'test':
      return passes(item, condition);
  }
}

function passes(item: Item, { field, fieldKind, operator, value: wanted }: Test): boolean {
  const value = valueAt(item, field, fieldKind);
  const other = wanted instanceof Date ? wanted.getTime() : wanted;
  if (value === undefined) return operator === '!=';
  switch (operator) {
    case '=':
      return value === other;
    case '!=':
      return value !== other;
    case '<':
      return value < other;
    case '<=':
      return value <= other;
    case '>':
      return value > other;
    case '>=':
      return value >= other;
    case '~':
      return String(value).toLowerCase().includes(String(other).toLowerCase());
  }
}

/** Sorts the items; items without a value come last, and equal ones keep their order. */
export function ordered<One extends Item>(items: readonly One[], order: Order | undefined): readonly One[] {
  if (!order) return items;
  const { field, fieldKind, direction } = order;
  const sign = direction === 'ascending' ? 1 : -1;
  return [...items].sort((a, b) => {
    const [one, other] = [valueAt(a, field, fieldKind), valueAt(b, field, fieldKind)];
    if (one === undefined || other === undefined) return Number(one === undefined) - Number(other === undefined);
    return one < other ? -sign : one > other ? sign : 0;
  });
}

/** Converts a date to milliseconds. */
function valueAt(item: Item, path: string, kind: FieldKind): Value | undefined {
  let value: unknown = item;
  for (const name of path.split('.'))
    value = typeof value === 'object' && value !== null ? Reflect.get(value, name) : undefined;
  if (typeof value === 'string') return kind === 'date' ? Date.parse(value) : value;
  return typeof value === 'number' || typeof value === 'boolean' ? value : undefined;
}
