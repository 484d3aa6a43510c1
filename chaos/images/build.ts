/** The images of a run: those of other projects, which are pulled or substituted, and ours, which are built. */
import { readFileSync } from 'node:fs';
import path from 'node:path';
import type { Engine } from './engine';
import { PROJECT_FOLDER, readServices } from './compose-file';
import { exists, isSubstitute, makeSubstitute } from './substitutes';

/** The tag of the images that a run builds, so that they do not replace the images of `docker compose up`. */
export const TAG = 'images-test';
const TARGETS = ['worker', 'service', 'codec-server', 'cli'] as const;
/** The variable with more arguments for building images, for example for a proxy; separated by spaces. */
const BUILD_ARGUMENTS = 'TOKENFERRY_BUILD_ARGS';

interface BuildOptions {
  /** A temporary folder. */
  readonly folder: string;
  readonly log: (line: string) => void;
}

export interface OtherImages {
  /** The source of each substituted image. */
  readonly substituted: ReadonlyMap<string, string>;
  /** The images that could be neither pulled nor substituted, each with the reason. */
  readonly missing: ReadonlyMap<string, string>;
}

/**
 * Pulls the images that docker-compose.yml and the Dockerfile refer to, unless the engine has them. Substitutes those
 * that cannot be pulled.
 */
export async function acquireOtherImages(engine: Engine, { folder, log }: BuildOptions): Promise<OtherImages> {
  const substituted = new Map<string, string>();
  const missing = new Map<string, string>();
  const bases = baseImages();
  const [debian = ''] = bases;
  for (const image of new Set([...bases, ...imagesOfServices()])) {
    if (await exists(engine, image)) {
      if (!(await isSubstitute(engine, image))) continue;
      await engine.run(['rmi', image]); // only removes the name
    }
    try {
      await engine.run(['pull', '--quiet', image]);
    } catch {
      try {
        substituted.set(image, await makeSubstitute(engine, image, { debian, folder, log }));
      } catch (error) {
        missing.set(image, error instanceof Error ? error.message : String(error));
      }
    }
  }
  return { substituted, missing };
}

/** Removes the real names of the substitutes. The next run finds them under their own names. */
export async function releaseSubstitutes(engine: Engine, { substituted }: OtherImages): Promise<void> {
  for (const image of substituted.keys()) await engine.run(['rmi', image]);
}

/** Builds our images, and logs the uncompressed size of each. */
export async function buildImages(engine: Engine, log: (line: string) => void): Promise<void> {
  const more = (process.env[BUILD_ARGUMENTS] ?? '').split(' ').filter((argument) => argument !== '');
  for (const target of TARGETS) {
    const image = `tokenferry-${target}:${TAG}`;
    await engine.run(['build', ...more, '--target', target, '--tag', image, '.'], { cwd: PROJECT_FOLDER });
    const bytes = Number(await engine.run(['image', 'inspect', '--format', '{{.Size}}', image]));
    log(`built ${image}: ${Math.round(bytes / 1e6)} MB`);
  }
}

export async function removeImages(engine: Engine): Promise<void> {
  for (const target of TARGETS) {
    const image = `tokenferry-${target}:${TAG}`;
    if (await exists(engine, image)) await engine.run(['rmi', image]);
  }
}

/** Returns the images that the Dockerfile is based on: Debian first, because substitutes are based on it. */
export function baseImages(): readonly string[] {
  const dockerfile = readFileSync(path.join(PROJECT_FOLDER, 'Dockerfile'), 'utf8');
  const images = [...dockerfile.matchAll(/^FROM (\S+:\S+) AS/gm)].map(([, image = '']) => image);
  return images.sort((a) => (a.includes('/debian:') ? -1 : 1));
}

function imagesOfServices(): readonly string[] {
  const images = Object.values(readServices()).map(({ image }) => image);
  return images.filter((image) => !image.startsWith('tokenferry-'));
}
