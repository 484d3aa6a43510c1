/**
 * Output to people and programs, and input from people.
 *
 * `output` writes the result of a command as text or JSON. `table`, `progress-bar`, `live-block` and `full-screen` show
 * text; `styled-text`, `line-breaks` and `times` format it. `prompts` asks questions, and `keyboard` reads single keys.
 */
export { openProgressBar } from './progress-bar';
export { PRINT_NOTHING, Output, fittedTo, type CommandResult, type AlreadyWritten } from './output';
export { formatTable } from './table';
export type { TableCell } from './table';
export type { Terminal } from './terminal';
