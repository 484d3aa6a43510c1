/**
 * The first ports to try. They are below the range from which the operating system takes the ports of outgoing
 * connections, so that no connection takes the port of a killed process.
 */
export const FIRST_PORTS = {
  service: 20_500,
  codecServer: 20_700,
  metrics: 20_800,
  prometheus: 20_900,
  temporal: 21_000,
  images: 21_500,
} as const;
