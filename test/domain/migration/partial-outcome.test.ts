import { companiesOutcomeText, isPartial } from '../../../domain/migration/partial-outcome';

test.each([
  [3, 3, 'retried', false],
  [0, 1, 'retried; applied to 0 of 1 company: the others do not exist, or their state does not allow it', true],
  [
    1284,
    2000,
    'skipped; applied to 1,284 of 2,000 companies: the others do not exist, or their state does not allow it',
    true,
  ],
])(
  'an outcome that changed %i of %i companies states both numbers if they differ',
  (changed, requested, text, partial) => {
    expect(companiesOutcomeText(text.split(';')[0] ?? '', changed, requested)).toBe(text);
    expect(isPartial({ text })).toBe(partial);
  },
);
