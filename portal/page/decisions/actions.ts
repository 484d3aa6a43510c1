/** Opens the dialog of each decision. */
import type { DecisionMessage } from '../../../domain/migration/parse-decision';
import { counted } from '../../../domain/text/sentences';
import type { Action, Company } from '../../client/api';
import { sendInParts } from '../../client/decisions';
import { offeredRemedies } from '../../client/remedies';
import { isStillOffered, canDecide, decide, type App } from '../app';
import { openDialog } from '../elements/dialog';
import type { Child } from '../elements/elements';
import { limitsForm, referencesForm, syncForm, timeForm, type Scope } from './forms';
import { notMovedList } from './not-moved';

/** The form for a decision. `read` throws `FormProblem`. */
interface ActionForm {
  readonly elements: readonly Child[];
  readonly read: () => Promise<Readonly<Record<string, unknown>>> | Readonly<Record<string, unknown>>;
}

export function openAction(app: App, action: Action, selected: readonly Company[] = []): void {
  const message = action.message as DecisionMessage;
  if (message === 'credentialsSupplied' || message === 'replaceCredential') {
    void import('../supply/credentials').then(({ openCredentials }) => openCredentials(app, action, selected));
    return;
  }
  if (message === 'applicationSupplied') {
    void import('../supply/application').then(({ openApplication }) => openApplication(app, action));
    return;
  }
  if (message === 'manifestSupplied') {
    void import('../supply/manifest').then(({ openManifest }) => openManifest(app, action));
    return;
  }
  void openForm(app, action, selected);
}

async function openForm(app: App, action: Action, selected: readonly Company[]): Promise<void> {
  const message = action.message as DecisionMessage;
  const form = await formOf(app, action, selected);
  openDialog({
    ...action,
    fields: form.elements,
    send: async (reason, sending) => {
      const fields = await form.read();
      const shared = {
        ...(action.digest === undefined ? {} : { digest: action.digest }),
        ...(reason === undefined ? {} : { reason }),
      };
      const step = action.step !== undefined && (message === 'approve' || message === 'reject');
      return sendInParts(
        { message, fields: { ...fields, ...shared, ...(step ? { step: action.step } : {}) } },
        (decision) => decide(app, decision, sending.say),
        sending.progress,
      );
    },
    onDone: app.refresh,
    isStillOffered: () => isStillOffered(app, action),
  });
}

async function formOf(app: App, action: Action, selected: readonly Company[]): Promise<ActionForm> {
  switch (action.message) {
    case 'proposeTime':
      return timeForm(app.view());
    case 'adjust':
      return limitsForm();
    case 'confirmSyncDisabled':
      return syncForm(app.view(), selected);
    case 'skip':
    case 'exclude':
      return referencesForm(selected);
    case 'retry':
    case 'relink': {
      const companies: Scope = selected.length === 0 ? 'all' : selected.map(({ reference }) => reference);
      return { elements: [], read: () => ({ companies }) };
    }
    default: {
      const elements = action.step === 'complete-migration' ? await notMovedList(app.view()) : [];
      return { elements, read: () => ({}) };
    }
  }
}

/** Returns the decisions that this person can make about all of these companies, with the text of their button. */
export function companyDecisions(app: App, companies: readonly Company[]): readonly Action[] {
  const [first] = companies;
  if (first === undefined || !canDecide(app)) return [];
  const view = app.view();
  const shared = first.remedies.filter((remedy) => companies.every(({ remedies }) => remedies.includes(remedy)));
  return offeredRemedies(view, shared).map(({ action, namesCompanies }) =>
    namesCompanies ? { ...action, facts: factsOf(companies) } : action,
  );
}

function factsOf(companies: readonly Company[]): string[] {
  const listed = companies.slice(0, 10).map(({ name, reference, problem }) => {
    const about = `${name} (${reference})`;
    return problem === null ? about : `${about}: ${problem}`;
  });
  const more = companies.length - listed.length;
  return more > 0 ? [...listed, `and ${counted(more, 'other company')}`] : listed;
}
