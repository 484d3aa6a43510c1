/** The Temporal UI cuts off the last lines of what it renders: let them be empty ones. */
export const BOTTOM_PADDING = Array.from({ length: 6 }, () => '\u00a0').join('\n\n');
