/**
 * Run by the health checks of containers. Exits with 0 if the address answers 200 within 4 seconds, otherwise with 1.
 */
fetch(process.argv[2], { signal: AbortSignal.timeout(4_000) })
  .then(async (answer) => {
    console.log(await answer.text());
    process.exitCode = answer.status === 200 ? 0 : 1;
  })
  .catch((error) => {
    console.log(String(error.cause ?? error));
    process.exitCode = 1;
  });
