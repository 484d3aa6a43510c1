/** How the command speaks: to people in words that fit their terminal, to programs in JSON. */
export { openProgressBar } from './progress-bar';
export { NOTHING, Output, type CommandResult, type Shown } from './output';
export { layTable } from './table';
export type { TableCell } from './table';
export type { Terminal } from './terminal';
