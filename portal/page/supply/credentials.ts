/** Supplies credentials from a file, which this page checks, encrypts and sends. */
import type { DecisionMessage } from '../../../domain/migration/parse-decision';
import { isPartial } from '../../../domain/migration/partial-outcome';
import { counted } from '../../../domain/text/sentences';
import { plainTextAdvice } from '../../../domain/supply/client-secret';
import type { Action, Company } from '../../client/api';
import { readByReference, refusedCredentials } from '../../client/credential-check';
import { notSentTexts, unsentTexts, type Refused } from '../../client/refused';
import type { RequestAnswer } from '../../contract/requests';
import { isStillOffered, eachCompany, type App } from '../app';
import { checkCredentials, OBTAINED_AT_LABEL, type CheckedFile } from './credential-file';
import { openDialog, problemText, sentence } from '../elements/dialog';
import { el, field, fieldset, hint, type Child } from '../elements/elements';
import { createFileCheck, platformOf } from './file-check';
import { accentedList, findingsList, templateLinks } from './file-form';
import { sealingKey, supply } from './supply';
import { localInput, zoneText } from '../elements/times';

export async function openCredentials(app: App, action: Action, selected: readonly Company[]): Promise<void> {
  const obtainedAt = el('input', { id: 'obtained-at', type: 'datetime-local' });
  // The field shows only minutes. Unless a person enters a time, the file's exact time is used, because within the
  // minute of the confirmation the seconds decide whether a credential counts.
  let isTimeEntered = false;
  const file = createFileCheck<Checked>({
    advice: 'choose a file with credentials that can be sent',
    check: async (chosen, { asWindows1252, say }) => {
      if (!isTimeEntered) obtainedAt.value = localInput(new Date(chosen.lastModified));
      const time = isTimeEntered ? new Date(obtainedAt.value) : null;
      const known = await readByReference(eachCompany({}, say));
      const { migrationId } = app.view();
      const options = { obtainedAt: time, asWindows1252, migrationId, known };
      const found = await checkCredentials(chosen, platformOf(app), options);
      const { included, others } = ofSelected(found, selected);
      const refused = refusedCredentials(included, known, {
        isRotating: app.view().isRotating,
        replaces: action.message === 'replaceCredential',
      });
      const references = new Set(refused.map(({ reference }) => reference));
      const credentials = included.filter(({ reference }) => !references.has(reference));
      const isSendable = found.findings.errors === 0 && credentials.length > 0;
      const accented = asWindows1252 ? found.accented : null;
      return {
        checked: isSendable ? { file: chosen.name, credentials, refused, others } : null,
        isWindows1252: found.accented !== null,
        shown: resultOf({ ...found, credentials, accented }, others, refused),
      };
    },
  });
  obtainedAt.addEventListener('change', () => {
    isTimeEntered = obtainedAt.value !== '';
    file.restart();
  });

  openDialog({
    ...action,
    fields: [
      await keyLine(app),
      fieldset(
        'The file',
        field(
          'Credential file (CSV or JSON)',
          file.input,
          hint('One row for each company. ', ...templateLinks(app, 'credentials')),
        ),
        field(
          OBTAINED_AT_LABEL,
          obtainedAt,
          hint(
            `This time applies to rows without obtainedAt. Enter the time in your time zone, ${zoneText()}. If you leave the field empty, the page uses the time when the file was last changed.`,
          ),
        ),
        file.encoding,
        file.result,
      ),
    ],
    send: async (reason, sending) => {
      const checked = file.checked();
      const fields = reason === undefined ? {} : { reason };
      const { credentials } = checked;
      const message = action.message as DecisionMessage;
      return withFileAdvice(await supply(app, { message, credentials, fields }, sending), checked);
    },
    onDone: app.refresh,
    isStillOffered: () => isStillOffered(app, action),
  });
}

/** A file of which some credentials can be sent. */
interface Checked extends Pick<CheckedFile, 'credentials'> {
  /** The name of the file. */
  readonly file: string;
  /** The credentials of the file that cannot be sent. */
  readonly refused: Refused;
  /** The references in the file that are not selected. */
  readonly others: readonly string[];
}

/**
 * Adds to an `applied` answer which credentials of the file could not be sent, as `ferry credentials` does. If all
 * credentials of the file were supplied, asks the person to delete the file.
 */
function withFileAdvice(answer: RequestAnswer, { file, refused, others }: Checked): RequestAnswer {
  if (answer.outcome !== 'applied') return answer;
  const refusedCredentials = [...refused, ...(answer.refusedCredentials ?? [])];
  const isComplete = refusedCredentials.length === 0 && others.length === 0 && !isPartial(answer);
  const texts = [...notSentTexts(refused), ...(isComplete ? [plainTextAdvice(file, 'credentials')] : [])];
  return { ...answer, text: [answer.text, ...texts].join('. '), refusedCredentials };
}

/** Shows who signed the migration key, or why the page refuses to encrypt. */
async function keyLine(app: App): Promise<Child> {
  try {
    const { signedBy } = await sealingKey(app);
    return hint(
      'The provider that your invitation names has signed the migration key. Fingerprint of the provider: ',
      el('code', {}, signedBy),
      '. Check that the provider publishes the same fingerprint.',
    );
  } catch (error) {
    return el('p', { class: 'problem' }, problemText(error));
  }
}

/**
 * Returns in `included` the credentials of the selected companies, because the decision is about these companies, and
 * in `others` the references of the other companies in the file. Without a selection, includes all credentials.
 */
function ofSelected(
  { credentials }: CheckedFile,
  selected: readonly Company[],
): { readonly included: CheckedFile['credentials']; readonly others: readonly string[] } {
  if (selected.length === 0) return { included: credentials, others: [] };
  const references = new Set(selected.map(({ reference }) => reference));
  return {
    included: credentials.filter(({ reference }) => references.has(reference)),
    others: credentials.flatMap(({ reference }) => (references.has(reference) ? [] : [reference])),
  };
}

function resultOf(
  { findings, credentials, accented }: CheckedFile,
  others: readonly string[],
  refused: Refused,
): readonly Child[] {
  const { errors } = findings;
  const isGood = errors === 0 && credentials.length > 0;
  const isOfOthers = errors === 0 && credentials.length === 0 && others.length > 0;
  return [
    (isGood || errors > 0 || refused.length === 0) &&
      el(
        'p',
        { class: isGood ? 'done' : 'problem' },
        isGood
          ? `✓ ${counted(credentials.length, 'credential')} can be sent.`
          : errors > 0
            ? `The file has ${counted(errors, 'error')}. Nothing was sent.`
            : isOfOthers
              ? 'The file contains none of the companies that you selected. Choose a file that contains them.'
              : 'The file contains no credentials.',
      ),
    isGood && others.length > 0 && hint(othersText(others)),
    ...unsentTexts(refused).map((text) => el('p', { class: 'problem' }, sentence(text))),
    ...accentedList(accented),
    ...findingsList(findings),
  ];
}

/** Names the companies in the file that are not selected, and says that their credentials are not sent. */
function othersText(others: readonly string[]): string {
  return `The file also contains ${named(others)}. Credentials of companies that you did not select are not sent.`;
}

function named(references: readonly string[]): string {
  const more = references.length - 5;
  return references.slice(0, 5).join(', ') + (more > 0 ? ` and ${counted(more, 'other')}` : '');
}
