import { drawFaults, quickFaults, type FaultContext } from '../../chaos/faults';

/** Returns a stub that has only a name. */
const named = (name: string) => ({ name });
const context = {
  cluster: {
    workers: [named('worker-1'), named('worker-2')],
    service: named('service'),
    temporal: {
      frontend: named('frontend'),
      history: named('history'),
      matching: named('matching'),
      worker: named('w'),
    },
    databases: { ledger: named('ledger'), service: named('service-database'), temporal: named('temporal-database') },
  },
  migrations: [{ id: 'a' }, { id: 'b' }],
} as unknown as FaultContext;

function names(seed: number, count: number): string[] {
  const faults = drawFaults(context, seed);
  return Array.from({ length: count }, () => faults.next().value.name);
}

test('a seed always selects the same faults, and another seed selects others', () => {
  expect(names(7, 50)).toEqual(names(7, 50));
  expect(names(7, 50)).not.toEqual(names(8, 50));
});

test('forty faults contain every kind', () => {
  const kinds = [
    ...[/^kill worker-\d$/, /^kill worker-1 and worker-2$/, /^kill service$/, /-database$|^kill ledger$/],
    ...[/^kill (frontend|history|matching|w)$/, /^suspend .* for 40 s$/, /^cut /, /^lose answers/, /^lose requests/],
    ...[/^delay requests/, /^page of a proxy/, /^absurd answers/, /^clock of /, /^storm of /, /^window of /],
    ...[/^restore the ledger$/, /^restore Temporal/, /^roll a changed build out/],
  ];
  for (const seed of [1, 2, 3]) {
    const drawn = names(seed, 40);
    expect(kinds.filter((kind) => !drawn.some((name) => kind.test(name)))).toEqual([]);
  }
});

test('a quick run has a kill, lost answers, a cut, a restore and a changed build', () => {
  const kinds = [/^kill worker-\d$/, /^lose answers/, /^cut /, /^restore the ledger$/, /^roll a changed build out/];
  const drawn = quickFaults(context, 1).map(({ name }) => name);
  expect(drawn).toEqual(kinds.map((kind) => expect.stringMatching(kind) as string));
});
