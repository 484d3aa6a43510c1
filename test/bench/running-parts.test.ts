import { RunningParts } from '../../bench/processes/running-parts';

test('all parts are stopped once, in reverse order of their start, even if one of them cannot be stopped', async () => {
  const stopped: string[] = [];
  const parts = new RunningParts();
  for (const name of ['server', 'handler', 'client']) {
    parts.add({
      stop: async () => {
        stopped.push(name);
        if (name === 'handler') throw new Error('it hangs');
      },
    });
  }
  await expect(parts.stop()).rejects.toThrow('Not stopped: Error: it hangs');
  await parts.stop();
  expect(stopped).toEqual(['client', 'handler', 'server']);
});
