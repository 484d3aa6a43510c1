/** Runs the work while the process is in another time zone (IANA name), as a reader there would run a command. */
export async function inTimeZone(zone: string, work: () => void | Promise<void>): Promise<void> {
  const { TZ } = process.env;
  process.env['TZ'] = zone;
  try {
    await work();
  } finally {
    if (TZ === undefined) delete process.env['TZ'];
    else process.env['TZ'] = TZ;
  }
}
