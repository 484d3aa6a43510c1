/** The dialog of a decision. Shows the facts and the consequence, asks for a reason, and shows the outcome. */
import { changedCount, isPartial } from '../../../domain/migration/partial-outcome';
import { isReviewChanged } from '../../../domain/migration/decision-record';
import type { RequestAnswer } from '../../contract/requests';
import { ApiError } from '../../client/api';
import { button, buttonRow, byId, el, field, points, type Child } from './elements';
import { inReadersZone } from './times';
import { beginSending } from './unfinished';

/**
 * An error with a message for the person, for example about a missing entry or a refused decision. The dialog shows the
 * message and stays open.
 */
export class FormProblem extends Error {
  override readonly name = 'FormProblem';
}

/** The functions with which `send` shows its progress in the dialog. */
export interface Sending {
  readonly say: (text: string) => void;
  /** @param share from 0 to 1 */
  readonly progress: (share: number) => void;
}

export interface DecisionDialog {
  readonly title: string;
  readonly facts: readonly string[];
  /** Facts that the person should know before deciding. */
  readonly warnings?: readonly string[] | undefined;
  readonly consequence: string;
  readonly isIrreversible: boolean;
  readonly fields?: readonly Child[];
  readonly reason: 'none' | 'optional' | 'required';
  /** @throws FormProblem, or ApiError if the request fails */
  readonly send: (reason: string | undefined, sending: Sending) => Promise<RequestAnswer>;
  /** Reads the migration again. */
  readonly onDone: () => Promise<void>;
  /** Reads the migration again, and returns whether the person can still make the decision. */
  readonly isStillOffered: () => Promise<boolean>;
}

/**
 * Opens the dialog of a decision. Does nothing while another dialog is open, because a person might press a button
 * twice before its dialog appears.
 */
export function openDialog(options: DecisionDialog): void {
  if (document.querySelector('dialog') !== null) return;
  const {
    title,
    facts,
    warnings = [],
    consequence,
    isIrreversible,
    fields = [],
    reason,
    send,
    onDone,
    isStillOffered,
  } = options;
  const returnTo = document.activeElement;
  const reasonInput = el('textarea', { id: 'reason', rows: 3, maxlength: 2_000, required: reason === 'required' });
  const reasonField = field(reason === 'required' ? 'Your reason' : 'Your reason (optional)', reasonInput);
  const problem = el('p', { class: 'problem', role: 'alert' });
  const status = el('p', { class: 'hint', role: 'status' });
  const keepOpen = el('p', { class: 'hint', hidden: true }, 'Keep this page open until it shows the result.');
  const meter = el('progress', { max: 1, value: 0, 'aria-label': 'Progress', hidden: true });
  const confirm = el('button', { type: 'submit', class: isIrreversible ? 'danger' : 'primary' }, title);
  const cancel = button('Back', () => dialog.close());
  const form = el(
    'form',
    { method: 'dialog', novalidate: true, onsubmit: (event) => void submitted(event) },
    facts.length > 0 && points(...facts.map(inReadersZone)),
    ...warnings.map((text) =>
      el('p', { class: 'warning' }, el('strong', {}, 'Warning: '), inReadersZone(sentence(text))),
    ),
    ...fields,
    reason !== 'none' && reasonField,
    el(
      'p',
      { class: isIrreversible ? 'consequence final' : 'consequence' },
      el('strong', {}, isIrreversible ? 'This cannot be undone. ' : 'What this means: '),
      inReadersZone(consequence),
    ),
    el('div', { class: 'end' }, problem, meter, status, keepOpen, buttonRow(confirm, cancel)),
  );
  const dialog = el(
    'dialog',
    { 'aria-labelledby': 'dialog-title' },
    // Focusing the first field would open a phone's keyboard over the text.
    el('h2', { id: 'dialog-title', tabindex: -1, autofocus: true }, title),
    form,
  );
  let isSending = false;
  let endSending = (): void => undefined;

  dialog.addEventListener('cancel', (event) => {
    if (isSending) event.preventDefault();
  });
  dialog.addEventListener('close', () => {
    dialog.remove();
    // Live data might have replaced the button that opened the dialog.
    if (returnTo instanceof HTMLElement && returnTo.isConnected) returnTo.focus();
    else byId('main').focus({ preventScroll: true });
  });

  const setSending = (value: boolean): void => {
    isSending = value;
    endSending();
    endSending = value ? beginSending(title) : () => undefined;
    keepOpen.hidden = !value;
    confirm.disabled = value;
    cancel.disabled = value;
    for (const each of form.querySelectorAll('fieldset')) each.disabled = value;
    reasonInput.disabled = value;
  };

  async function submitted(event: Event): Promise<void> {
    event.preventDefault();
    if (isSending) return;
    problem.textContent = '';
    const text = reasonInput.value.trim();
    if (reason === 'required' && text === '') {
      problem.textContent = 'Write your reason, so that everyone understands the decision later.';
      reasonInput.focus();
      return;
    }
    setSending(true);
    status.textContent = 'Sending…';
    try {
      const answer = await send(text === '' ? undefined : text, {
        say: (line) => (status.textContent = line),
        progress: (share) => {
          meter.hidden = false;
          meter.value = share;
        },
      });
      if (answer.outcome === 'refused' && isReviewChanged(answer)) outdated(answer);
      else if (answer.outcome === 'refused' && !(await isStillOffered())) withdrawn(answer);
      else if (answer.outcome === 'refused' || answer.outcome === 'failed') throw new FormProblem(answer.text);
      else finished(answer);
    } catch (error) {
      status.textContent = '';
      meter.hidden = true;
      problem.textContent = problemText(error);
      setSending(false);
    }
  }

  /** Removes the button for a decision that is no longer possible, for example because the step has ended. */
  function withdrawn({ text }: RequestAnswer): void {
    status.textContent = '';
    replaceForm(el('p', { class: 'problem', role: 'alert' }, inReadersZone(sentence(text))));
  }

  /**
   * Removes the facts that the dialog shows, because they have changed, so the same decision would be refused again.
   * Keeps the reason that the person has written.
   */
  function outdated({ text }: RequestAnswer): void {
    const hasReason = reasonInput.value.trim() !== '';
    const copy = hasReason ? ' If you still need your reason, copy it first.' : '';
    reasonInput.disabled = false;
    reasonInput.readOnly = true;
    replaceForm(
      el('p', { class: 'problem', role: 'alert' }, `${sentence(text)} Close this dialog, and open it again.${copy}`),
      ...(hasReason ? [reasonField] : []),
    );
  }

  function finished({ text, refusedCredentials = [] }: RequestAnswer): void {
    const isDone = !isPartial({ text }) && refusedCredentials.length === 0;
    const hasChanged = changedCount({ text }, 1) > 0;
    const [mark, kind] = isDone ? ['✓', 'done'] : hasChanged ? ['⚠', 'warning'] : ['✗', 'problem'];
    replaceForm(el('p', { class: kind, role: 'status' }, `${mark} ${inReadersZone(sentence(text))}`));
  }

  /** Shows only these elements, and reads the migration again, because the page behind the dialog is out of date. */
  function replaceForm(...shown: readonly HTMLElement[]): void {
    setSending(false);
    const close = button('Close', () => dialog.close(), { class: 'primary' });
    form.replaceChildren(...shown, buttonRow(close));
    close.focus();
    void onDone();
  }

  document.body.append(dialog);
  dialog.showModal();
}

/** Returns the text with a capital letter and a full stop. The name of a column, such as `realmId`, stays as it is. */
export function sentence(text: string): string {
  const start = /^[a-z]+[A-Z]/.test(text) ? text : text.charAt(0).toUpperCase() + text.slice(1);
  return /[.!?]\)?$/.test(start) ? start : `${start}.`;
}

export function problemText(error: unknown): string {
  if (error instanceof FormProblem) return inReadersZone(sentence(error.message));
  if (error instanceof ApiError)
    return [sentence(error.message), error.advice === undefined ? '' : sentence(error.advice)].join(' ').trim();
  return `Something went wrong in this page: ${String(error)}. Reload the page and try again.`;
}
