import { companiesOutcomeText, isPartial } from '../../../domain/migration/partial-outcome';

test.each([
  [3, 3, 'retried', false],
  [0, 1, 'retried; applied to 0 of 1 companies: the others do not exist, or their state does not allow it', true],
])(
  'an outcome that changed %i of %i companies states both numbers if they differ',
  (changed, requested, text, partial) => {
    expect(companiesOutcomeText('retried', changed, requested)).toBe(text);
    expect(isPartial({ text })).toBe(partial);
  },
);
