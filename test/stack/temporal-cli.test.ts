import { chmodSync, existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { acquireTemporalCli } from '../../stack/temporal/cli';
import { buildWithGo, type CliTarget } from '../../stack/temporal/cli-sources';

const USABLE = 'echo "temporal version 1.5.1 (Server 1.29.1, UI 2.42.1)"';
const OUTDATED = 'echo "temporal version 0.11.0 (Server 1.23.0, UI 2.26.2)"';
/** Early versions of the command print their versions in this form. */
const EARLY = 'echo "temporal version 0.10.7 (server 1.21.4) (ui 2.16.2)"';

let folder: string;
let env: NodeJS.ProcessEnv;
let logged: string[];

beforeEach(() => {
  folder = mkdtempSync(path.join(tmpdir(), 'tokenferry-cli-'));
  logged = [];
  // The scripts below need tools of /usr/bin and /bin. A `temporal` in the test's own folder `bin` takes precedence.
  env = { PATH: `${path.join(folder, 'bin')}:/usr/bin:/bin`, XDG_CACHE_HOME: path.join(folder, 'cache') };
});

afterEach(() => rmSync(folder, { recursive: true, force: true }));

function executable(name: string, script: string): string {
  const file = path.join(folder, name);
  mkdirSync(path.dirname(file), { recursive: true });
  writeFileSync(file, `#!/bin/sh\n${script}\n`);
  chmodSync(file, 0o755);
  return file;
}

const log = (line: string): number => logged.push(line);

function failWith(reason: string): (target: CliTarget) => Promise<string> {
  return async () => {
    throw new Error(reason);
  };
}

function create(script: string): (target: CliTarget) => Promise<string> {
  return async (target) => executable(path.relative(folder, target.executable), script);
}

const acquire = (download = failWith('no answer in time'), build = failWith('Go is not installed')): Promise<string> =>
  acquireTemporalCli({ env, log, sources: { download, build } });

describe('acquireTemporalCli', () => {
  test('prefers TEMPORAL_CLI_PATH to the PATH', async () => {
    const onPath = executable('bin/temporal', USABLE);
    expect(await acquire()).toBe(onPath);
    env['TEMPORAL_CLI_PATH'] = executable('named', USABLE);
    expect(await acquire()).toBe(env['TEMPORAL_CLI_PATH']);
  });

  test('skips an unusable TEMPORAL_CLI_PATH with a warning', async () => {
    const onPath = executable('bin/temporal', USABLE);
    env['TEMPORAL_CLI_PATH'] = executable('named', 'exit 1');
    expect(await acquire()).toBe(onPath);
    const named = env['TEMPORAL_CLI_PATH'];
    expect(logged).toEqual([expect.stringContaining(`TEMPORAL_CLI_PATH=${named} is not used`)]);
    expect(logged[0]).toContain(`${named} --version failed with exit code 1`);
    expect(logged[0]).not.toContain('Command failed');
  });

  test("skips a command on the PATH that is outdated or not Temporal's", async () => {
    executable('bin/temporal', OUTDATED);
    const downloaded = await acquire(create(USABLE));
    expect(downloaded).toContain(path.join('cache', 'tokenferry'));
    executable('bin/temporal', 'echo something else');
    expect(await acquire()).toBe(downloaded);
  });

  test('finds a command that was built before in the cache', async () => {
    const built = await acquire(undefined, create(USABLE));
    expect(await acquire(failWith('not cached'), failWith('not cached'))).toBe(built);
  });

  test('replaces an unusable file in the cache', async () => {
    const broken = await acquire(create(USABLE));
    writeFileSync(broken, 'half a file');
    expect(await acquire(create(USABLE))).toBe(broken);
  });

  test('an early version of the command is reported as outdated', async () => {
    const early = executable('bin/temporal', EARLY);
    await expect(acquire()).rejects.toThrow(`${early} contains server 1.21, but 1.28 or later is required`);
  });

  test('lists all five sources and why each failed if none works', async () => {
    executable('bin/temporal', OUTDATED);
    await expect(acquire()).rejects.toThrow(
      /1\. TEMPORAL_CLI_PATH: not set\n.*2\. "temporal" on the PATH: .* contains server 1\.23.*\n.*3\. the cache, .*: not found\n.*4\. the Temporal SDK's download: no answer in time\n.*5\. a build with Go: Go is not installed\n/,
    );
  });
});

describe('buildWithGo', () => {
  const toolOutput = '"$8"'; // go -C <module> build -mod=readonly -ldflags <flags> -o <file> <package>
  let executablePath: string;
  let target: CliTarget;

  beforeEach(() => {
    executablePath = path.join(folder, 'cache', 'temporal');
    target = { version: 'v1.5.1', executable: executablePath, moduleFolder: folder, env, log };
  });

  test('reports an error of Go and leaves nothing behind', async () => {
    executable('bin/go', `echo half > ${toolOutput}; echo "no space left on device" >&2; exit 1`);
    await expect(buildWithGo(target)).rejects.toThrow('no space left on device');
    expect(readdirSync(path.dirname(executablePath))).toEqual([]);
  });

  test('can run twice at once', async () => {
    executable('bin/go', `printf '#!/bin/sh\\n%s\\n' '${USABLE}' > ${toolOutput}; chmod +x ${toolOutput}`);
    expect(await Promise.all([buildWithGo(target), buildWithGo(target)])).toEqual([executablePath, executablePath]);
    expect(readdirSync(path.dirname(executablePath))).toEqual(['temporal']);
  });

  test('reports that Go is not installed', async () => {
    target.env = { ...env, PATH: path.join(folder, 'nothing') };
    await expect(buildWithGo(target)).rejects.toThrow('Go is not installed');
    expect(existsSync(executablePath)).toBe(false);
  });
});
