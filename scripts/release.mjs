/**
 * `npm run release`: writes the parts of a release to `release/`: the package, an SBOM of the packages that it installs
 * (CycloneDX), the documentation of the programmatic client, and the checksums of the package and the SBOM. Publishes
 * nothing.
 */
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const release = path.join(root, 'release');

const output = (command, ...args) =>
  execFileSync(command, args, {
    cwd: root,
    encoding: 'utf8',
    maxBuffer: 256 * 2 ** 20,
    stdio: ['ignore', 'pipe', 'inherit'],
  });

/** Asserts that the release can be built again from a commit, and that the changelog describes it. */
function assertReleasable(version) {
  if (output('git', 'status', '--porcelain') !== '') throw new Error('commit or remove all changes first');
  const changelog = readFileSync(path.join(root, 'CHANGELOG.md'), 'utf8');
  if (!changelog.includes(`\n## [${version}]`)) {
    throw new Error(`CHANGELOG.md has no section [${version}]; rename the section [Unreleased]`);
  }
}

function main() {
  const { name, version } = JSON.parse(readFileSync(path.join(root, 'package.json'), 'utf8'));
  assertReleasable(version);
  rmSync(release, { recursive: true, force: true });
  mkdirSync(release);
  const tarball = output('npm', 'pack', '--silent', '--pack-destination', release).trim().split('\n').at(-1);
  const sbom = `${name}-${version}.cdx.json`;
  writeFileSync(
    path.join(release, sbom),
    output('npm', 'sbom', '--omit', 'dev', '--sbom-format', 'cyclonedx', '--sbom-type', 'application'),
  );
  output('npm', 'run', '--silent', 'docs:client');
  cpSync(path.join(root, 'dist', 'client-docs'), path.join(release, 'client-docs'), { recursive: true });
  const sums = [tarball, sbom].map((file) => `${sha256(path.join(release, file))}  ${file}\n`);
  writeFileSync(path.join(release, 'SHA256SUMS'), sums.join(''));
  console.log(`release/ contains ${tarball}, ${sbom}, SHA256SUMS and client-docs/`);
}

const sha256 = (file) => createHash('sha256').update(readFileSync(file)).digest('hex');

try {
  main();
} catch (error) {
  console.error(`FAILED: ${error.message}`);
  process.exitCode = 1;
}
