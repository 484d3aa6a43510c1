/** The mutants that test the checker of chaos runs. `npm run chaos -- --mutants` runs them. */
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { MUTANTS } from '../../chaos/mutants/mutants';
import { withEdit } from '../../chaos/mutants/copy';
import { INVARIANTS } from '../../chaos/checker';

it('breaks each invariant of the checker with one mutant', () => {
  expect(MUTANTS.map(({ invariant }) => invariant)).toEqual(Object.keys(INVARIANTS));
});

it.each(MUTANTS)('has edits that fit the compiled product: a build that $defect', ({ edits }) => {
  for (const edit of edits) {
    const text = readFileSync(path.join(__dirname, '../../dist', edit.file), 'utf8');
    expect(withEdit(text, edit)).not.toBe(text);
    // An edit that relies on a comment stops fitting when the comment changes.
    expect(edit.before).not.toMatch(/\/\/|\/\*/);
  }
});

it('refuses an edit whose text occurs twice, or not at all', () => {
  const edit = { file: 'some.js', before: 'a', after: 'b' };
  expect(() => withEdit('a, a', edit)).toThrow('dist/some.js must contain this exactly once: a');
  expect(() => withEdit('c', edit)).toThrow('exactly once');
});
