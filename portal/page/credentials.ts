/** Supplies credentials from a file: it is checked, encrypted and sent by this page. */
import type { DecisionMessage } from '../../domain/migration/parse-decision';
import { counted } from '../../domain/text/sentences';
import { findPlatform } from '../../platforms/platforms';
import type { Action, Company } from '../client/api';
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
  // The field shows minutes. Within the minute of the confirmation, the seconds decide whether a credential counts.
  let isTimeEntered = false;
  let checked: CheckedFile | null = null;

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
    checked = found.findings.errors === 0 && others.length === 0 ? found : null;
    result.replaceChildren(...resultOf(found, others).filter((each) => each instanceof Node));
  }
  input.addEventListener('change', () => void check());
  obtainedAt.addEventListener('change', () => {
    isTimeEntered = obtainedAt.value !== '';
    void check();
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
            `Used for rows without obtainedAt. In your time zone, ${zoneText()}. If it is empty, the time when the file was last changed.`,
          ),
        ),
        result,
      ),
    ],
    send: async (reason, sending) => {
      if (checked === null) throw new FormProblem('choose a file without errors');
      const { credentials } = checked;
      const fields = reason === undefined ? {} : { reason };
      return supply(app, { message: action.message as DecisionMessage, credentials, fields }, sending);
    },
    onDone: app.refresh,
  });
}

/** Says that the key is the provider's, or why the page refuses to encrypt. */
async function keyLine(app: App): Promise<Child> {
  try {
    const { signedBy } = await sealingKey(app);
    return el(
      'p',
      { class: 'hint' },
      'The key that encrypts was signed by the provider in your invitation: ',
      el('code', {}, signedBy),
      '. Compare it with the fingerprint that the provider publishes.',
    );
  } catch (error) {
    return el('p', { class: 'problem' }, problemText(error));
  }
}

/** Returns the references of the file that were not selected, because a decision names its companies. */
function unselected({ credentials }: CheckedFile, selected: readonly Company[]): readonly string[] {
  const references = new Set(selected.map(({ reference }) => reference));
  return credentials.map(({ reference }) => reference).filter((reference) => !references.has(reference));
}

function resultOf({ findings, credentials }: CheckedFile, others: readonly string[]): readonly Child[] {
  const { errors } = findings;
  const isGood = errors === 0 && others.length === 0;
  return [
    el(
      'p',
      { class: isGood ? 'done' : 'problem' },
      isGood
        ? `✓ ${counted(credentials.length, 'credential')} can be sent.`
        : errors > 0
          ? `The file has ${counted(errors, 'error')}. Nothing was sent.`
          : `The file contains companies that you have not selected: ${others.slice(0, 5).join(', ')}.`,
    ),
    ...findingsList(findings),
  ];
}
