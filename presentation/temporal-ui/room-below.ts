/** The Temporal UI cuts off the last lines of what it renders: let them be empty ones. */
export const ROOM_BELOW = Array.from({ length: 6 }, () => '\u00a0').join('\n\n');
