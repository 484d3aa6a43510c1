/** The Company Data Service as a process of its own: so that whoever asks it does not take its time. */
import type { ServiceOptions } from '../company-data-service';
import { startService } from '../company-data-service';

async function main(settings: ServiceOptions): Promise<void> {
  const service = await startService(settings);
  process.once('disconnect', () => void service.close());
  process.send?.({ url: service.url });
}

process.once('message', (settings: ServiceOptions) => {
  main(settings).catch((error: unknown) => {
    process.stderr.write(`${String(error)}\n`);
    process.exit(1);
  });
});
