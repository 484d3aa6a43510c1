/**
 * Returns why a program that was run with `execFile` failed. Omits the command line that Node puts into the error
 * message. The text continues a sentence that begins with the name of the program.
 *
 * @param timeoutMs the time limit of the program; absent if it has none
 */
export function failedExecution(error: unknown, timeoutMs?: number): string {
  if (!(error instanceof Error)) return `failed: ${String(error)}`;
  const { code, killed, signal, stderr } = error as Error & Partial<ExecutionFields>;
  if (killed && timeoutMs !== undefined) return `did not finish within ${timeoutMs / 1_000} seconds`;
  const printed = stderr?.trim() ?? '';
  const says = printed === '' ? '' : `: ${printed}`;
  if (typeof code === 'number') return `failed with exit code ${code}${says}`;
  if (typeof signal === 'string') return `was ended by ${signal}${says}`;
  return `failed: ${error.message.trim()}`;
}

/** The fields that `execFile` adds to its errors. */
interface ExecutionFields {
  /** The exit code, or Node's code if the program could not be started; null if a signal ended the program. */
  readonly code: number | string | null;
  /** True if Node has ended the program, because of the time limit. */
  readonly killed: boolean;
  readonly signal: NodeJS.Signals | null;
  readonly stderr: string;
}
