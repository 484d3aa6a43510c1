/** Supplies credentials from a file, which this page checks, encrypts and sends. */
import type { DecisionMessage } from '../../domain/migration/parse-decision';
import { counted } from '../../domain/text/sentences';
import { findPlatform } from '../../platforms/platforms';
import type { Action, Company } from '../client/api';
import { eachCompany } from './api';
import type { App } from './app';
import { checkCredentials, type CheckedFile } from './credential-file';
import { FormProblem, openDialog, problemText } from './dialog';
import { el, type Child } from './elements';
import { fileInput, findingsList, templateLinks } from './file-form';
import { sealingKey, supply } from './supply';
import { localInput, zoneText } from './times';

export async function openCredentials(app: App, action: Action, selected: readonly Company[]): Promise<void> {
  const platform = findPlatform(app.view().platform.key);
  const input = fileInput();
  const obtainedAt = el('input', { id: 'obtained-at', type: 'datetime-local' });
  const result = el('div', { role: 'status' });
  // The field shows only minutes. Unless a person enters a time, the file's exact time is used, because within the
  // minute of the confirmation the seconds decide whether a credential counts.
  let isTimeEntered = false;
  let checked: CheckedFile['credentials'] | null = null;

  async function check(): Promise<void> {
    const [file] = input.files ?? [];
    checked = null;
    result.replaceChildren();
    if (file === undefined || platform === undefined) return;
    const changedAt = new Date(file.lastModified);
    if (!isTimeEntered) obtainedAt.value = localInput(changedAt);
    result.textContent = 'Checking the file…';
    const found = await checkCredentials(file, platform, isTimeEntered ? new Date(obtainedAt.value) : changedAt);
    const others = selected.length === 0 ? [] : unselected(found, selected);
    const unknown = found.findings.errors > 0 || others.length > 0 ? [] : await readUnknown(found);
    // A person may have chosen another file meanwhile.
    if (input.files?.[0] !== file) return;
    const known = found.credentials.filter(({ reference }) => !unknown.includes(reference));
    checked = found.findings.errors === 0 && others.length === 0 && known.length > 0 ? known : null;
    const shown = resultOf({ ...found, credentials: known }, others, unknown);
    result.replaceChildren(...shown.filter((each) => each instanceof Node));
  }
  const start = (): void => void check().catch((error: unknown) => (result.textContent = problemText(error)));
  input.addEventListener('change', start);
  obtainedAt.addEventListener('change', () => {
    isTimeEntered = obtainedAt.value !== '';
    start();
  });

  openDialog({
    ...action,
    fields: [
      await keyLine(app),
      el(
        'fieldset',
        {},
        el('legend', { class: 'unseen' }, 'The file'),
        el(
          'div',
          { class: 'field' },
          el('label', { for: 'file' }, 'Credential file (CSV or JSON)'),
          input,
          el('p', { class: 'hint' }, 'One row for each company. ', ...templateLinks(app, 'credentials')),
        ),
        el(
          'div',
          { class: 'field' },
          el('label', { for: 'obtained-at' }, 'When your application received the credentials'),
          obtainedAt,
          el(
            'p',
            { class: 'hint' },
            `Used for rows without obtainedAt. Enter it in your time zone, ${zoneText()}. If you leave it empty, the time when the file was last changed is used.`,
          ),
        ),
        result,
      ),
    ],
    send: async (reason, sending) => {
      if (checked === null) throw new FormProblem('choose a file without errors');
      const fields = reason === undefined ? {} : { reason };
      return supply(app, { message: action.message as DecisionMessage, credentials: checked, fields }, sending);
    },
    onDone: app.refresh,
  });
}

/** Shows who signed the encryption key, or why the page refuses to encrypt. */
async function keyLine(app: App): Promise<Child> {
  try {
    const { signedBy } = await sealingKey(app);
    return el(
      'p',
      { class: 'hint' },
      'The encryption key was signed by the provider that your invitation names: ',
      el('code', {}, signedBy),
      '. Compare it with the fingerprint that the provider publishes.',
    );
  } catch (error) {
    return el('p', { class: 'problem' }, problemText(error));
  }
}

/** Returns the references in the file that are not selected, because the decision is about selected companies only. */
function unselected({ credentials }: CheckedFile, selected: readonly Company[]): readonly string[] {
  const references = new Set(selected.map(({ reference }) => reference));
  return credentials.map(({ reference }) => reference).filter((reference) => !references.has(reference));
}

/** Returns the references in the file that the migration does not have. Their credentials would not be accepted. */
async function readUnknown({ credentials }: CheckedFile): Promise<readonly string[]> {
  const unknown = new Set(credentials.map(({ reference }) => reference));
  for await (const { reference } of eachCompany({})) {
    unknown.delete(reference);
    if (unknown.size === 0) break;
  }
  return [...unknown];
}

function resultOf(
  { findings, credentials }: CheckedFile,
  others: readonly string[],
  unknown: readonly string[],
): readonly Child[] {
  const { errors } = findings;
  const isGood = errors === 0 && others.length === 0 && credentials.length > 0;
  return [
    (isGood || unknown.length === 0) &&
      el(
        'p',
        { class: isGood ? 'done' : 'problem' },
        isGood
          ? `✓ ${counted(credentials.length, 'credential')} can be sent.`
          : errors > 0
            ? `The file has ${counted(errors, 'error')}. Nothing was sent.`
            : `The file contains companies that you have not selected: ${named(others)}.`,
      ),
    unknown.length > 0 &&
      el(
        'p',
        { class: 'problem' },
        `${counted(unknown.length, 'credential')} cannot be sent, because the manifest has no company with ${unknown.length === 1 ? 'this reference' : 'these references'}: ${named(unknown)}.`,
      ),
    ...findingsList(findings),
  ];
}

function named(references: readonly string[]): string {
  const more = references.length - 5;
  return references.slice(0, 5).join(', ') + (more > 0 ? ` and ${counted(more, 'other')}` : '');
}
