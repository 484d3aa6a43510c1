import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

interface PackageJson {
  readonly version: string;
  readonly engines: { readonly node: string };
}

/** The package.json above this file, wherever the build has put it. */
export function packageJson(): PackageJson {
  let folder = __dirname;
  while (!existsSync(join(folder, 'package.json'))) folder = dirname(folder);
  return JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as PackageJson;
}
