/** Exits with 0 if the address answers 200 within 4 seconds, and otherwise with 1. The health checks of containers run it. */
fetch(process.argv[2], { signal: AbortSignal.timeout(4_000) })
  .then(async (answer) => {
    console.log(await answer.text());
    process.exitCode = answer.status === 200 ? 0 : 1;
  })
  .catch((error) => {
    console.log(String(error.cause ?? error));
    process.exitCode = 1;
  });
