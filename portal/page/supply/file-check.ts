/** The file of a dialog: a person chooses it, and the page checks it before it can be sent. */
import { findPlatform, type Platform } from '../../../platforms/platforms';
import type { App } from '../app';
import { FormProblem, problemText } from '../elements/dialog';
import { el, fill, type Child } from '../elements/elements';
import { hasUtf8Characters, READ_AS_WINDOWS_1252 } from './source-file';

/** The elements of a dialog with a file, and the outcome of the last check. */
export interface FileCheck<Checked> {
  readonly input: HTMLInputElement;
  /** The choice of Windows-1252, which is offered for a file that is not Unicode. */
  readonly encoding: HTMLElement;
  readonly result: HTMLElement;
  /** Checks the chosen file again, because an entry that the check uses has changed. */
  readonly restart: () => void;
  /** @throws FormProblem if the check has not ended, or no file has passed it */
  readonly checked: () => Checked;
}

export interface FileCheckOptions<Checked> {
  readonly check: (file: File, options: CheckOptions) => Promise<CheckOutcome<Checked>>;
  /** Tells a person what to do if they send before a file has passed the check. */
  readonly advice: string;
}

export interface CheckOptions {
  readonly asWindows1252: boolean;
  /** Shows a text in place of the result while the check runs. */
  readonly say: (text: string) => void;
}

export interface CheckOutcome<Checked> {
  /** The content to send; null if the file cannot be sent. */
  readonly checked: Checked | null;
  /** True if the file was read as Windows-1252, so that the dialog offers this choice. */
  readonly isWindows1252: boolean;
  readonly shown: readonly Child[];
}

/**
 * Creates the elements. The file is checked when a person chooses it, and again when the encoding changes or `restart`
 * is called. Only the last check counts: an earlier check that ends later has used an older file or older entries.
 */
export function createFileCheck<Checked>({ check, advice }: FileCheckOptions<Checked>): FileCheck<Checked> {
  const input = el('input', { id: 'file', type: 'file', accept: '.csv,.json,text/csv,application/json' });
  const choice = el('input', { id: 'windows-1252', type: 'checkbox', onchange: () => restart() });
  const encoding = el(
    'div',
    { class: 'choice', hidden: true },
    choice,
    el('label', { for: 'windows-1252' }, READ_AS_WINDOWS_1252),
  );
  const result = el('div', { role: 'status' });
  let lastCheck = 0;
  let isChecking = false;
  let checked: Checked | null = null;

  /** @param isNewFile true if the choice of the encoding was made for an earlier file */
  function restart(isNewFile = false): void {
    const number = ++lastCheck;
    const ifLast = (show: () => void): void => {
      if (number === lastCheck) show();
    };
    const [file] = input.files ?? [];
    checked = null;
    isChecking = file !== undefined;
    result.replaceChildren(file === undefined ? '' : 'Checking the file…');
    if (file === undefined) return;
    const say = (text: string): void => ifLast(() => (result.textContent = text));
    const isWrongChoice = isNewFile && choice.checked ? hasUtf8Characters(file) : Promise.resolve(false);
    isWrongChoice
      .then((isWrong) => {
        ifLast(() => (choice.checked &&= !isWrong));
        return check(file, { asWindows1252: choice.checked, say });
      })
      .then((outcome) => ifLast(() => show(outcome)))
      .catch((error: unknown) => say(unreadable(error)))
      .finally(() => ifLast(() => (isChecking = false)));
  }

  function show(outcome: CheckOutcome<Checked>): void {
    checked = outcome.checked;
    encoding.hidden = !outcome.isWindows1252;
    fill(result, outcome.shown);
  }

  /**
   * Keeps the choice of the encoding for a corrected file, unless the file has multi-byte UTF-8 characters: if it is
   * damaged UTF-8, reading it as Windows-1252 would change its names.
   */
  function restartWithFile(): void {
    encoding.hidden = true;
    restart(true);
  }

  // Browsers report no change if a person corrects a file and chooses it again, unless the input is empty.
  input.addEventListener('click', () => {
    input.value = '';
    restartWithFile();
  });
  input.addEventListener('change', restartWithFile);
  input.addEventListener('cancel', () => (result.textContent = 'No file is chosen.'));

  return {
    ...{ input, encoding, result, restart: () => restart() },
    checked: () => {
      if (isChecking)
        throw new FormProblem('the page was still checking the file; read the result, then press the button again');
      if (checked === null) throw new FormProblem(advice);
      return checked;
    },
  };
}

/**
 * Returns the platform of the migration.
 *
 * @throws FormProblem if the page does not know it, because the page or the portal is older than the workers
 */
export function platformOf(app: App): Platform {
  const { key, name } = app.view().platform;
  const platform = findPlatform(key);
  if (platform === undefined)
    throw new FormProblem(
      `this version of the page does not know ${name}; reload the page, and try again. If this happens again, tell your contact`,
    );
  return platform;
}

/** Browsers refuse to read a file that has changed since it was chosen, or that the person may not read. */
function unreadable(error: unknown): string {
  return error instanceof DOMException && ['NotReadableError', 'NotFoundError'].includes(error.name)
    ? 'The page cannot read the file. If the file was changed or moved after you chose it, choose it again. If you do not have permission to read it, change its permissions and choose it again, or choose a copy that you can read.'
    : problemText(error);
}
