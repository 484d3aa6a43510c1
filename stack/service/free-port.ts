import { startService, type Service, type ServiceOptions } from '../../company-data-service';
import { errorCode } from '../error-code';
import { reservePort } from '../ports';

const DEFAULT_PORT = 8_700;
const PORTS_TO_TRY = 5;

/**
 * Starts the Company Data Service on the first free port.
 *
 * @param wanted the port to try first; `0`: any
 */
export async function startServiceOnFreePort(
  options: Omit<ServiceOptions, 'port'>,
  wanted: number = DEFAULT_PORT,
): Promise<Service> {
  for (let attempt = 1; ; attempt += 1) {
    const { port, release } = await reservePort(wanted);
    try {
      return await startService({ ...options, port });
    } catch (error) {
      if (attempt === PORTS_TO_TRY || errorCode(error) !== 'EADDRINUSE') throw error;
    } finally {
      release();
    }
  }
}
