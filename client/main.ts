/** The process of the `ferry` command. */
import { runFerry } from './program';

// A reader that has seen enough (`ferry list | head`) is no error.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code === 'EPIPE') process.exit();
  throw error;
});

void runFerry(process.argv.slice(2), process).then((exitCode) => {
  process.exitCode = exitCode;
});
