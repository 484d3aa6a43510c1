/** How the command speaks: to people in words that fit their terminal, to programs in JSON. */
export { Screen, type CommandResult } from './screen';
export type { TableCell } from './table';
export type { Terminal } from './terminal';
