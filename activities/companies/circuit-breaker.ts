/** Whether anything gets through: whoever tries company after company notices when the service or its platform is down. */

/** Nothing gets through any more. */
export interface OpenCircuit {
  /** What came back last. */
  readonly why: string;
  /** So many got through before. */
  readonly gotThrough: number;
}

export interface CircuitBreaker {
  /** @param putOff why a company has to be tried again; null: it got through, well or badly */
  note(putOff: string | null): void;
  /** Whether as many were put off in a row as go side by side. */
  isBlocked(lanes: number): boolean;
  /** The same at the end, when fewer may have been tried: then none of them got through. */
  blocked(lanes: number): OpenCircuit | null;
}

export function createCircuitBreaker(): CircuitBreaker {
  let gotThrough = 0;
  let inARow = 0;
  let why: string | null = null;
  const isBlocked = (lanes: number): boolean => inARow >= lanes;
  return {
    note: (putOff) => {
      if (putOff === null) gotThrough += 1;
      inARow = putOff === null ? 0 : inARow + 1;
      why = putOff;
    },
    isBlocked,
    blocked: (lanes) => (why !== null && (gotThrough === 0 || isBlocked(lanes)) ? { why, gotThrough } : null),
  };
}
