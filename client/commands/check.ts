import type { Platform } from '../../domain/platforms';
import { manifestDigest, readManifest, type Manifest, type ManifestFiles } from '../manifest';
import { counted } from '../words';
import type { CommandResult, Screen } from '../screen';
import type { Context } from './context';
import { printFindings } from './finding-list';
import { platformOption } from './options';

interface CheckOptions {
  readonly platform: Platform;
  readonly credentials?: string;
}

/** `ferry check`: what a migration would find wrong with a manifest, before there is one. */
export function addCheck({ program, run }: Context): void {
  program
    .command('check <manifest>')
    .description('Look for mistakes in a manifest (CSV or JSON); nothing is sent anywhere')
    .addOption(platformOption())
    .option('-c, --credentials <file>', 'a second file, with the credentials by reference')
    .action(async (manifest: string, { platform, credentials }: CheckOptions) =>
      run(() => check({ manifest, ...(credentials !== undefined && { credentials }) }, platform)),
    );
}

async function check(files: ManifestFiles, platform: Platform): Promise<CommandResult> {
  const manifest = await readManifest(files, platform);
  const errors = manifest.findings.filter(({ severity }) => severity === 'error').length;
  const warnings = manifest.findings.length - errors;
  return {
    failed: errors > 0,
    json: {
      schema: 'ferry.check/1',
      ok: errors === 0,
      files,
      platform: platform.slug,
      companies: manifest.rows.length,
      credentials: manifest.credentials.length,
      // Of a manifest that cannot be used, nobody shall approve a digest.
      manifestDigest: errors === 0 ? manifestDigest(manifest.rows) : null,
      errors,
      warnings,
      findings: manifest.findings,
    },
    print: (screen) => {
      printFindings(screen, manifest.findings);
      printSummary(screen, manifest, platform, errors, warnings);
    },
  };
}

function printSummary(screen: Screen, manifest: Manifest, platform: Platform, errors: number, warnings: number): void {
  if (errors > 0) {
    const count = `${counted(errors, 'error')} and ${counted(warnings, 'warning')}`;
    screen.line(`${screen.styled('red', '✗')} ${count}: correct the errors and check again`);
    return;
  }
  const { rows, credentials } = manifest;
  const what = `${counted(rows.length, 'company')} of ${platform.name}, ${counted(credentials.length, 'credential')}`;
  screen.line(`${screen.styled('green', '✓')} ${what}: no errors, ${counted(warnings, 'warning')}`);
}
