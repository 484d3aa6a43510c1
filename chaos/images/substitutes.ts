/**
 * Makes substitutes for container images that cannot be pulled. Builds them from Debian and npm packages, a Go module
 * and Temporal's server. They are kept under names of their own, so that the next run finds them, and have the name of
 * the real image only during a run.
 */
import { createHash } from 'node:crypto';
import {
  chmodSync,
  copyFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';
import { cacheFolder } from '../../stack/folders';
import { runGo, withTemporaryFolder } from '../../stack/temporal/cli-sources';
import { acquireTemporalServer } from '../cluster/temporal/binaries';
import { runCommand, type Engine } from './engine';

const FILES = path.join(__dirname, 'substitutes');
const UI_MODULE = 'github.com/temporalio/ui-server/v2';
const NPM = 'npm@11';
/** The label of substitutes. Images that are based on a substitute inherit the label. */
const LABEL = 'tokenferry.substitute';

interface Substitute {
  readonly madeFrom: string;
  /** Puts the files that the image is built from into a folder. */
  readonly prepare: (folder: string, tag: string, log: (line: string) => void) => Promise<unknown>;
  /** The stage of substitutes/Dockerfile; undefined for the image that all stages are based on. */
  readonly stage?: string;
}

const temporal: Substitute = { madeFrom: "a build of Temporal's server", prepare: copyTemporal, stage: 'temporal' };

/** The substitutes by repository. */
const SUBSTITUTES: Readonly<Record<string, Substitute>> = {
  'docker.io/library/debian': { madeFrom: "Debian's packages", prepare: makeDebian },
  'docker.io/library/node': { madeFrom: 'the npm package "node"', prepare: installNode, stage: 'node' },
  'docker.io/library/postgres': {
    madeFrom: 'Debian\'s package "postgresql"',
    prepare: async (folder) =>
      copyFileSync(path.join(FILES, 'postgres-entrypoint.sh'), path.join(folder, 'postgres-entrypoint.sh')),
    stage: 'postgres',
  },
  'docker.io/temporalio/server': temporal,
  'docker.io/temporalio/admin-tools': temporal,
  'docker.io/temporalio/ui': { madeFrom: `the Go module ${UI_MODULE}`, prepare: buildUi, stage: 'temporal-ui' },
  'docker.io/prom/prometheus': {
    madeFrom: 'Debian\'s package "prometheus"',
    prepare: async () => undefined,
    stage: 'prometheus',
  },
};

/**
 * Returns the name under which a substitute is kept. If the substitute has a stage, its name changes with the files in
 * substitutes/, so that the next run builds it again.
 */
function substituteName(image: string, { stage }: Substitute): string {
  const name = image.split('/').slice(1).join('-');
  if (stage === undefined) return `localhost/tokenferry-substitute/${name}`;
  const content = createHash('sha256');
  for (const file of readdirSync(FILES).sort()) content.update(readFileSync(path.join(FILES, file)));
  return `localhost/tokenferry-substitute-${content.digest('hex').slice(0, 8)}/${name}`;
}

/** Returns whether an image is a substitute that an interrupted run has left under the real name. */
export async function isSubstitute(engine: Engine, image: string): Promise<boolean> {
  const format = `{{index .Config.Labels "${LABEL}"}}`;
  return (await engine.run(['image', 'inspect', '--format', format, image])) === 'true';
}

/**
 * Makes the substitute of an image, unless there is one from an earlier run, and gives it the image's name.
 *
 * @param debian the name of the Debian image that the other substitutes are based on, which must exist
 * @returns the source that the substitute is made from, in words
 * @throws if it cannot be made, with the reason
 */
export async function makeSubstitute(
  engine: Engine,
  image: string,
  { debian, folder, log }: { debian: string; folder: string; log: (line: string) => void },
): Promise<string> {
  const [repository = '', tag = ''] = image.split(':');
  const substitute = SUBSTITUTES[repository];
  if (!substitute) throw new Error('it cannot be pulled, and there is no substitute for it');
  const name = substituteName(image, substitute);
  if (!(await exists(engine, name))) {
    const context = path.join(folder, path.basename(name).replace(':', '-'));
    mkdirSync(context, { recursive: true });
    try {
      await substitute.prepare(context, tag, log);
      if (substitute.stage === undefined) {
        await engine.run(['import', '--change', `LABEL ${LABEL}=true`, path.join(context, 'root.tar'), name]);
      } else {
        const file = ['--file', path.join(FILES, 'Dockerfile'), '--build-arg', `DEBIAN=${debian}`];
        await engine.run(['build', '--quiet', ...file, '--target', substitute.stage, '--tag', name, context]);
      }
    } finally {
      rmSync(context, { recursive: true, force: true });
    }
  }
  await engine.run(['tag', name, image]);
  return substitute.madeFrom;
}

/** Returns whether the engine has an image. */
export async function exists(engine: Engine, image: string): Promise<boolean> {
  return engine.run(['image', 'inspect', '--format', '{{.Id}}', image]).then(
    () => true,
    () => false,
  );
}

/** Makes Debian's root file system, without the files that the slim images leave out. */
async function makeDebian(folder: string, tag: string, log: (line: string) => void): Promise<void> {
  const [suite = ''] = tag.split('-');
  log(`Installing Debian ${suite} (takes about a minute).`);
  const leftOut = ['doc', 'man', 'info', 'locale'].map((name) => `--dpkgopt=path-exclude=/usr/share/${name}/*`);
  await runCommand(['mmdebstrap', '--quiet', '--variant=minbase', ...leftOut, suite, path.join(folder, 'root.tar')]);
}

async function installNode(folder: string, tag: string): Promise<void> {
  const [version = ''] = tag.split('-');
  const installation = path.join(folder, 'installation');
  mkdirSync(installation);
  writeFileSync(path.join(installation, 'package.json'), JSON.stringify({ private: true }));
  await runCommand(['npm', 'install', '--no-audit', '--no-fund', `node@${version}`, NPM], {
    cwd: installation,
    // `npm run` sets variables that would make the inner npm work on this project.
    env: Object.fromEntries(
      Object.keys(process.env).flatMap((name) =>
        /^npm_(package|lifecycle|config_local)/i.test(name) ? [[name, undefined]] : [],
      ),
    ),
  });
  copyFileSync(path.join(installation, 'node_modules', 'node', 'bin', 'node'), path.join(folder, 'node'));
  renameSync(path.join(installation, 'node_modules', 'npm'), path.join(folder, 'npm'));
}

async function copyTemporal(folder: string, _tag: string, log: (line: string) => void): Promise<void> {
  const { server, sqlTool } = await acquireTemporalServer({ env: process.env, log });
  for (const file of [server, sqlTool]) copyExecutable(file, path.join(folder, path.basename(file)));
}

async function buildUi(folder: string, tag: string, log: (line: string) => void): Promise<void> {
  const module = `${UI_MODULE}@v${tag}`;
  const cached = path.join(cacheFolder(process.env), `temporal-ui-v${tag}-${process.platform}-${process.arch}`);
  if (!existsSync(cached)) {
    log(`Building Temporal's UI ${tag} with Go (takes about 4 minutes on two cores; only needed once).`);
    await withTemporaryFolder(path.dirname(cached), async (unfinished) => {
      const env = { ...process.env, GOBIN: unfinished };
      await runGo(['install', `${UI_MODULE}/cmd/server@v${tag}`], { folder: unfinished, env, log });
      mkdirSync(cached);
      renameSync(path.join(unfinished, 'server'), path.join(cached, 'ui-server'));
    });
  }
  copyExecutable(path.join(cached, 'ui-server'), path.join(folder, 'ui-server'));
  const { Dir: sources } = JSON.parse(await runCommand(['go', 'mod', 'download', '-json', module])) as { Dir: string };
  cpSync(path.join(sources, 'config'), path.join(folder, 'config'), { recursive: true });
}

/** Copies a program, so that all users can run it. */
function copyExecutable(from: string, to: string): void {
  copyFileSync(from, to);
  chmodSync(to, 0o755);
}
