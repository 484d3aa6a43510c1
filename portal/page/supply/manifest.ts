/** Supplies the manifest from a file. This page checks the file and shows how many companies it contains. */
import { MAX_MANIFEST_COMPANIES } from '../../../domain/migration/decision-fields';
import { counted } from '../../../domain/text/sentences';
import type { Action } from '../../client/api';
import { supplyManifest } from '../../client/manifest';
import { isStillOffered, decide, submit, type App } from '../app';
import { openDialog } from '../elements/dialog';
import { el, field, fieldset, hint, type Child } from '../elements/elements';
import { createFileCheck, platformOf } from './file-check';
import { accentedList, findingsList, templateLinks } from './file-form';
import { checkManifest, type CheckedManifest } from './manifest-file';

export function openManifest(app: App, action: Action): void {
  const file = createFileCheck<CheckedManifest>({
    advice: 'choose a file that passes the check',
    check: async (chosen, { asWindows1252 }) => {
      const found = await checkManifest(chosen, platformOf(app), {
        asWindows1252,
        migrationId: app.view().migrationId,
      });
      return {
        checked: isUsable(found) ? found : null,
        isWindows1252: found.accented !== null,
        shown: resultOf(asWindows1252 ? found : { ...found, accented: null }, app.view().platform.name),
      };
    },
  });

  openDialog({
    ...action,
    fields: [
      fieldset(
        'The file',
        field(
          'Manifest (CSV or JSON)',
          file.input,
          hint('One row for each company to move. ', ...templateLinks(app, 'manifest')),
        ),
        file.encoding,
        file.result,
      ),
    ],
    send: async (reason, { say, progress }) => {
      return supplyManifest(file.checked().rows, reason === undefined ? {} : { reason }, {
        submit: (path, body) => submit(path, body, say),
        decide: (decision) => decide(app, decision, say),
        ...{ say, progress },
      });
    },
    onDone: app.refresh,
    isStillOffered: () => isStillOffered(app, action),
  });
}

const isUsable = ({ findings, rows }: CheckedManifest): boolean =>
  findings.errors === 0 && rows.length > 0 && rows.length <= MAX_MANIFEST_COMPANIES;

function resultOf(found: CheckedManifest, platform: string): readonly Child[] {
  const { findings, rows, withCredential, accented } = found;
  return [
    isUsable(found)
      ? el('p', { class: 'done' }, `✓ ${counted(rows.length, 'company')} on ${platform}${wavesText(found)}.`)
      : el('p', { class: 'problem' }, problemOf(found)),
    isUsable(found) &&
      withCredential > 0 &&
      hint(
        `The file also contains ${counted(withCredential, 'credential')}. The page does not send credentials with a manifest; supply credentials later.`,
      ),
    ...accentedList(accented),
    ...findingsList(findings),
  ];
}

function problemOf({ findings, rows }: CheckedManifest): string {
  return findings.errors > 0
    ? `The file has ${counted(findings.errors, 'error')}. Nothing was sent.`
    : `The file has ${counted(rows.length, 'company')}, but the portal accepts at most ${counted(MAX_MANIFEST_COMPANIES, 'company')}. Ask your contact how to supply the manifest.`;
}

/** Describes the waves in their order: ` (wave 1: 10, wave 2: 50)`. Empty if there are none. */
function wavesText({ rows }: CheckedManifest): string {
  const sizes = new Map<number | null, number>();
  for (const { wave } of rows) sizes.set(wave, (sizes.get(wave) ?? 0) + 1);
  if (sizes.size === 1 && sizes.has(null)) return '';
  const texts = [...sizes]
    .sort(([one], [other]) => (one ?? Infinity) - (other ?? Infinity))
    .map(([wave, size]) => `${wave === null ? 'without a wave' : `wave ${wave}`}: ${size.toLocaleString('en-US')}`);
  const shown = texts.slice(0, 10).join(', ');
  return ` (${shown}${texts.length > 10 ? `, and ${counted(texts.length - 10, 'more wave')}` : ''})`;
}
