import fc from 'fast-check';
import {
  batchRunIdOf,
  closeWorkflowIdOf,
  isIdWord,
  isReservedLabel,
  isWindowWorkflowOf,
  migrationIdOf,
  migrationOfWorkflow,
  reconcileWorkflowIdOf,
  scheduleIdOf,
  windowWorkflowIdOf,
} from '../../../domain/migration/temporal-names';

test.each([
  ['acme', true],
  ['acme-2', true],
  ['a', true],
  ['a'.repeat(64), true],
  ['a'.repeat(65), false],
  ['', false],
  ['Acme', false],
  ['acme.uk', false],
  ['-acme', false],
  ['acme-', false],
  ['ac me', false],
  ['acme\n', false],
  ['häuser', false],
])('%j can be part of an id: %s', (word, isValid) => {
  expect(isIdWord(word)).toBe(isValid);
});

test('an id consists of the client, the platform and an optional label', () => {
  expect(migrationIdOf('acme', 'quickbooks-online')).toBe('acme.quickbooks-online');
  expect(migrationIdOf('acme', 'xero', 'spring')).toBe('acme.xero.spring');
  expect(batchRunIdOf('acme.xero')).toBe('acme.xero.batch');
});

test.each([
  batchRunIdOf,
  closeWorkflowIdOf,
  reconcileWorkflowIdOf,
  scheduleIdOf,
  windowWorkflowIdOf,
  // Temporal appends the time at which the Schedule starts the workflow.
  (id: string) => `${windowWorkflowIdOf(id)}-2026-11-23t01:00:00z`,
])("a label that would produce the id of another migration's workflow or Schedule is reserved", (idOf) => {
  const label = idOf('acme.xero').slice('acme.xero.'.length);
  expect(isReservedLabel(label)).toBe(true);
});

test.each(['spring', 'batch-2', 'second-window', 'windows-10'])('%s is a label like any other', (label) => {
  expect(isReservedLabel(label)).toBe(false);
});

test('different parts give different ids', () => {
  const word = fc.stringMatching(/^[a-z0-9]([a-z0-9-]{0,5}[a-z0-9])?$/);
  const words = fc.tuple(word, word, fc.option(word, { nil: undefined }));
  fc.assert(
    fc.property(words, words, (one, other) => {
      expect(one.every((each) => each === undefined || isIdWord(each))).toBe(true);
      expect(migrationIdOf(...one) === migrationIdOf(...other)).toBe(JSON.stringify(one) === JSON.stringify(other));
    }),
  );
});

test.each([
  ['acme.xero', 'acme.xero'],
  ['acme.xero.spring', 'acme.xero.spring'],
  [batchRunIdOf('acme.xero.spring'), 'acme.xero.spring'],
  [closeWorkflowIdOf('acme.xero'), 'acme.xero'],
  [reconcileWorkflowIdOf('acme.xero'), 'acme.xero'],
  [`${windowWorkflowIdOf('acme.xero')}-2026-11-23T01:00:00Z`, 'acme.xero'],
  [scheduleIdOf('acme.xero'), 'acme.xero'],
  ['acme.xero.windows-10', 'acme.xero.windows-10'],
  ['tokenferry-sweep-2026-11-23T01:00:00Z', undefined],
  ['', undefined],
])('the workflow %j belongs to the migration %j', (workflowId, migrationId) => {
  expect(migrationOfWorkflow(workflowId)).toBe(migrationId);
});

test('a workflow of a window belongs only to its own migration', () => {
  const id = `${windowWorkflowIdOf('acme.xero')}-2026-11-23T01:00:00Z`;
  expect(isWindowWorkflowOf('acme.xero', id)).toBe(true);
  for (const other of ['acme.xero.windows-10', `${windowWorkflowIdOf('acme.xero.windows-10')}-2026`])
    expect(isWindowWorkflowOf('acme.xero', other)).toBe(false);
});
