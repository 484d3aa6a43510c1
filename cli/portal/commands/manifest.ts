import { supplyManifest } from '../../../portal/client/manifest';
import { MAX_MANIFEST_COMPANIES } from '../../../domain/migration/decision-fields';
import { counted } from '../../../domain/text/sentences';
import { findPlatform } from '../../../platforms/platforms';
import { addEncoding, readManifest, type EncodingOption } from '../../manifest';
import { CommandFailed } from '../../shared/errors';
import { findingsJson, printFindings, invalidFileResult } from '../../shared/results';
import { listAllFindings } from '../../suggestions/file-arguments';
import type { CommandResult } from '../../terminal/output';
import { withPortal, type Connection } from '../connection';
import { commandText, type PortalContext } from '../context';
import { assertDecided, assertMayDecide, printOutcome, review, send, type DecideOptions } from '../decide';
import { addDecideOptions } from './decisions';
import { collected } from '../../../domain/text/streams';

type ManifestOptions = DecideOptions & EncodingOption;

/** `ferry --portal <link> manifest` */
export function addManifest(context: PortalContext): void {
  const { program, run } = context;
  addEncoding(
    addDecideOptions(
      program
        .command('manifest <migration> <file>')
        .description(
          'Check the manifest (a CSV or JSON file), and supply it. Until support has accepted the details, this can also replace a manifest that was supplied before',
        ),
    ),
  ).action((migrationId: string, file: string, options: ManifestOptions) =>
    run(() => withPortal(context, migrationId, (portal) => supply(context, portal, file, options))),
  );
}

async function supply(
  context: PortalContext,
  portal: Connection,
  file: string,
  options: ManifestOptions,
): Promise<CommandResult> {
  const { view } = await portal.readMigration();
  assertMayDecide(portal.session, view);
  const { migrationId } = view;
  const platform = findPlatform(view.platform.key);
  if (!platform)
    throw new CommandFailed(
      `this version of ferry does not support the platform ${view.platform.name}`,
      'update ferry',
    );
  const { encoding, reason } = options;
  const files = { manifest: file, encoding };
  const command = commandText(context, 'credentials credentials.csv', migrationId);
  const manifest = await readManifest(files, platform, view.route, new Date(), { isSupplied: () => false, command });
  const { findings, totals, withCredential } = manifest;
  const schema = { schema: 'ferry.portal-manifest/1', migrationId } as const;
  if (findings.errors > 0) {
    const json = { ...schema, outcome: 'refused', text: 'the file has errors', companies: 0 };
    return invalidFileResult(json, findings, listAllFindings(files, platform), 'nothing was sent');
  }
  if (totals.companies > MAX_MANIFEST_COMPANIES)
    throw new CommandFailed(
      `the manifest has ${counted(totals.companies, 'company')}; the portal accepts up to ${counted(MAX_MANIFEST_COMPANIES, 'company')}`,
      'nothing was sent; ask your contact how to supply the manifest',
    );
  const facts = [
    `${file}: ${counted(totals.companies, 'company')} on ${platform.name}`,
    ...(withCredential === 0
      ? []
      : [
          `${counted(withCredential, 'credential')} in the file will not be sent; supply credentials later with: ${command}`,
        ]),
  ];
  await review(context, portal, { message: 'manifestSupplied', facts }, options);
  const rows = await collected(manifest.rows);
  const { outcome, text } = await supplyManifest(rows, reason === undefined ? {} : { reason }, {
    submit: (path, body) => portal.api.submit(path, body, portal.say),
    decide: (decision) => send(portal, decision),
    say: portal.say,
    progress: () => undefined,
  });
  assertDecided(context, migrationId, { outcome, text });
  const isDone = outcome === 'applied';
  return {
    failed: !isDone,
    json: { ...schema, outcome, text, companies: totals.companies, ...findingsJson(findings) },
    ...(isDone ? { printQuietly: () => undefined } : {}),
    print: (output) => {
      printFindings(output, findings, listAllFindings(files, platform));
      printOutcome(output, migrationId, { isDone, outcome, text });
    },
  };
}
