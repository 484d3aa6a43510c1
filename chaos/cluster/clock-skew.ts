/**
 * Preloaded into a worker (`node --require`): makes its clock differ from that of the machine by
 * `TOKENFERRY_CLOCK_SKEW_MS` milliseconds. Timers and `performance.now()` measure durations and are not affected. The
 * clock of the SDK's native code is not affected either.
 */
const skewMs = Number(process.env['TOKENFERRY_CLOCK_SKEW_MS'] ?? 0);
const MachineDate = Date;
const now = (): number => MachineDate.now() + skewMs;

const SkewedDate = new Proxy(MachineDate, {
  construct: (target, args: unknown[], newTarget) =>
    Reflect.construct(target, args.length === 0 ? [now()] : args, newTarget) as Date,
  apply: () => new MachineDate(now()).toString(),
  get: (target, property) => (property === 'now' ? now : (Reflect.get(target, property) as unknown)),
});
MachineDate.prototype.constructor = SkewedDate;
globalThis.Date = SkewedDate;
