/** What global-setup.ts has started and global-teardown.ts has to stop; both run in the same process. */
export const servers: { stop(): Promise<void> }[] = [];
