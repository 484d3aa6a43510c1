import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { replaceOnce } from '../mutants/copy';

/** The workflow bundle of this build. */
export const CURRENT_BUNDLE = path.join(__dirname, '..', '..', 'workflow-bundle.js');

/**
 * Returns a bundle whose workflows call more activities. A batch run that began on the present build cannot continue on
 * the returned bundle. A migration can, because the change to its workflow is behind `patched`.
 *
 * @throws if the bundle does not contain the code to change
 */
export function withMoreActivities(bundle: string): string {
  const batch = withCode(
    bundle,
    'const begun = await',
    'await (SHORT).countCompanies({ migrationId });\n    const begun = await',
  );
  const refresh =
    'async function refreshEstimate(migration, runFinished) {\n    const { migrationId } = migration.plan;';
  return withCode(
    batch,
    refresh,
    `${refresh}\n    if (${sdkIn(bundle)}.patched('estimate-twice'))\n` +
      '      await (SHORT).estimateRemaining({ migrationId, runFinished });',
  );
}

/** Returns the code with which any module of the bundle can load the workflow SDK. */
function sdkIn(bundle: string): string {
  const [load] = /__webpack_require__\([^)]*"[^"]*@temporalio\/workflow\/lib\/index\.js"\)/.exec(bundle) ?? [];
  if (load === undefined) throw new Error('the workflow bundle does not load the workflow SDK');
  return load;
}

/**
 * Replaces code in a bundle. In `after`, `SHORT` is replaced with the bundle's name for the proxies of the short
 * activities.
 *
 * @throws if the bundle does not contain the code exactly once
 */
export function withCode(bundle: string, before: string, after: string): string {
  const proxies = /(\w+)\.shortActivities/.exec(bundle.slice(bundle.indexOf(before)))?.[1];
  return replaceOnce('the workflow bundle', bundle, before, after.replace('SHORT', `${proxies}.shortActivities`));
}

/** Writes the changed bundle into the folder and returns its path. */
export function writeChangedBundle(folder: string): string {
  const file = path.join(folder, 'changed-bundle.js');
  writeFileSync(file, withMoreActivities(readFileSync(CURRENT_BUNDLE, 'utf8')));
  return file;
}
