/** Migrations in many states, and the commands that `ferry show` suggests in each of them. */
import { BEFORE_MOVES } from './suggested-before-moves';
import { WHILE_MOVING } from './suggested-while-moving';

/** The situations. The last element of each holds the known companies and applications, or `{}`. */
export const CASES = [...BEFORE_MOVES, ...WHILE_MOVING].map(
  ([name, state, commands, companies = {}]) => [name, state, commands, companies] as const,
);

/** Replaces the placeholders in a command, as a person does, because ferry refuses them. */
export const filledIn = (command: string): string =>
  command.replace('"your name"', 'Cleo').replace('"client id"', 'AB1');
