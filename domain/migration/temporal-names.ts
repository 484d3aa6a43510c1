/** The names of a migration in Temporal: workflow ids, the Schedule of its windows, and search attributes. */

/** A word that Temporal, URLs and shells accept without quoting. */
const ID_WORD = /^[a-z0-9](?:[a-z0-9-]{0,62}[a-z0-9])?$/;

export function isIdWord(word: string): boolean {
  return ID_WORD.test(word);
}

/** Returns whether a label would give a migration the id of another's workflow or Schedule. */
export function isReservedLabel(label: string): boolean {
  return /^(?:batch|closing|reconciliation|windows|window(?:-.*)?)$/.test(label);
}

/** Returns `<client>.<platform>[.<label>]` for words that `isIdWord` accepts, and a label that is not reserved. */
export function migrationIdOf(client: string, platformSlug: string, label?: string): string {
  return label === undefined ? `${client}.${platformSlug}` : `${client}.${platformSlug}.${label}`;
}

/** Returns the label of a migration; null if it has none. */
export function labelOf(migrationId: string): string | null {
  return migrationId.split('.')[2] ?? null;
}

/** Returns the workflow id of a migration's batch run. One id per migration, so that only one run exists at a time. */
export function batchRunIdOf(migrationId: string): string {
  return `${migrationId}.batch`;
}

/** Returns the id of the workflow that closes a terminated migration. One id, so that only one runs at a time. */
export function closeWorkflowIdOf(migrationId: string): string {
  return `${migrationId}.closing`;
}

/** Returns the id with which a Schedule starts `openWindow` workflows. Temporal appends the time to it. */
export function windowWorkflowIdOf(migrationId: string): string {
  return `${migrationId}.window`;
}

/** Returns the id of the workflow that reconciles a ledger. One id per migration, so that only one runs at a time. */
export function reconcileWorkflowIdOf(migrationId: string): string {
  return `${migrationId}.reconciliation`;
}

/** Matches the last part of a workflow id or Schedule id. No label may match ({@link isReservedLabel}). */
const WORKFLOW_SUFFIX = /\.(?:batch|closing|reconciliation|windows|window(?:-.*)?)$/;

/** Returns whether a workflow has the id of an `openWindow` workflow of the migration. */
export function isWindowWorkflowOf(migrationId: string, workflowId: string): boolean {
  const id = windowWorkflowIdOf(migrationId);
  return workflowId === id || workflowId.startsWith(`${id}-`);
}

/** Returns the migration to which a workflow belongs; undefined if it belongs to none. */
export function migrationOfWorkflow(workflowId: string): string | undefined {
  const migrationId = workflowId.replace(WORKFLOW_SUFFIX, '');
  const words = migrationId.split('.');
  return (words.length === 2 || words.length === 3) && words.every(isIdWord) ? migrationId : undefined;
}

/** Says that another workflow occupies one of these ids: anyone who can write to the namespace can take one. */
export function occupiedText(workflowId: string): string {
  return `another workflow occupies the id ${workflowId}; ${adviceToFreeId(workflowId)}`;
}

/** Returns the advice on how to free an occupied id. */
export function adviceToFreeId(workflowId: string): string {
  return `to end that workflow, run: temporal workflow terminate --workflow-id ${workflowId}`;
}

/** Says that a batch run has ended without a report. Nothing is lost: the ledger records every moved company. */
export function endedText(problem: string): string {
  return `the batch run has ended without a report (${problem}); another batch run will begin`;
}

const SCHEDULE_SUFFIX = '.windows';

/** Returns the id of the Schedule that opens a migration's windows. */
export function scheduleIdOf(migrationId: string): string {
  return `${migrationId}${SCHEDULE_SUFFIX}`;
}

/** The type of the workflow that a migration's Schedule starts. */
export const OPEN_WINDOW = 'openWindow';

interface ListedSchedule {
  readonly scheduleId: string;
  readonly action?: { readonly workflowType: string };
}

/** Returns the migration whose windows a Schedule opens; undefined if the Schedule opens no windows. */
export function migrationOfSchedule({ scheduleId, action }: ListedSchedule): string | undefined {
  const isOurs = action?.workflowType === OPEN_WINDOW && scheduleId.endsWith(SCHEDULE_SUFFIX);
  return isOurs ? scheduleId.slice(0, -SCHEDULE_SUFFIX.length) : undefined;
}

/**
 * Returns the command that creates search attributes in Temporal Cloud, where only its own tools can create them:
 * https://docs.temporal.io/cloud/tcld/namespace#search-attributes
 *
 * @param types the type of each search attribute, by its name
 */
export function cloudSearchAttributesCommand(
  namespace: string,
  types: Readonly<Record<string, 'INT' | 'KEYWORD'>>,
  names: readonly string[],
): string {
  const options = names.map((name) => `--search-attribute ${name}=${types[name] === 'INT' ? 'Int' : 'Keyword'}`);
  return `tcld namespace search-attributes add --namespace ${namespace} ${options.join(' ')}`;
}
