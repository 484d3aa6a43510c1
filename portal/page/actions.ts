/** Opens the dialog of each decision. */
import type { RequestAnswer } from '../contract';
import type { DecisionMessage } from '../../domain/migration/parse-decision';
import { MAX_COMPANIES_PER_MESSAGE } from '../../domain/migration/parse-decision';
import { counted } from '../../domain/text/sentences';
import type { Action, Company } from './api';
import type { App } from './app';
import { decide } from './app';
import { openDialog, type Sending } from './dialog';
import type { Child } from './elements';
import { afterwardsForm, firstCompanyForm, syncForm, timeForm } from './forms';
import type { Scope } from './forms';

/** A form of a decision. `read` throws `FormProblem`. */
interface ActionForm {
  readonly elements: readonly Child[];
  readonly read: () => Promise<Readonly<Record<string, unknown>>> | Readonly<Record<string, unknown>>;
}

/** The decisions about companies that are chosen in the list of companies. */
export const COMPANY_DECISIONS = ['retry', 'relink', 'replaceCredential', 'skip', 'exclude'] as const;
export type CompanyDecision = (typeof COMPANY_DECISIONS)[number];

export function openAction(app: App, action: Action, selected: readonly Company[] = []): void {
  const message = action.message as DecisionMessage;
  if (message === 'credentialsSupplied' || message === 'replaceCredential') {
    void import('./credentials').then(({ openCredentials }) => openCredentials(app, action, selected));
    return;
  }
  if (message === 'applicationSupplied') {
    void import('./application').then(({ openApplication }) => openApplication(app, action));
    return;
  }
  const form = formOf(app, action, selected);
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
      return sendParts(app, message, { ...fields, ...shared, ...(step ? { step: action.step } : {}) }, sending);
    },
    onDone: app.refresh,
  });
}

function formOf(app: App, action: Action, selected: readonly Company[]): ActionForm {
  switch (action.message) {
    case 'proposeTime':
      return timeForm(app.view());
    case 'confirmSyncDisabled':
      return syncForm(app.view(), selected);
    case 'chooseFirstCompany':
      return firstCompanyForm(selected);
    case 'reject':
      return action.step === 'migrate-first-company' ? afterwardsForm(app.view()) : { elements: [], read: () => ({}) };
    case 'retry':
    case 'relink':
    case 'skip':
    case 'exclude': {
      const companies: Scope = selected.length === 0 ? 'all' : selected.map(({ reference }) => reference);
      return { elements: [], read: () => ({ companies }) };
    }
    default:
      return { elements: [], read: () => ({}) };
  }
}

/** Sends a decision; one about more companies than fit into a message in several parts. Stops at the first refusal. */
async function sendParts(
  app: App,
  message: DecisionMessage,
  fields: Readonly<Record<string, unknown>>,
  { say, progress }: Sending,
): Promise<RequestAnswer> {
  const { companies } = fields;
  if (!Array.isArray(companies) || companies.length <= MAX_COMPANIES_PER_MESSAGE)
    return decide(app, { message, fields }, say);
  const texts = new Set<string>();
  for (let start = 0; start < companies.length; start += MAX_COMPANIES_PER_MESSAGE) {
    const part = companies.slice(start, start + MAX_COMPANIES_PER_MESSAGE) as readonly string[];
    const answer = await decide(app, { message, fields: { ...fields, companies: part } }, say);
    if (answer.outcome !== 'applied')
      return { ...answer, text: `${counted(start, 'company')} of ${companies.length} sent, then: ${answer.text}` };
    texts.add(answer.text);
    progress((start + part.length) / companies.length);
  }
  return { outcome: 'applied', text: [...texts].join('; ') };
}

const TEXTS: Readonly<Record<CompanyDecision, Pick<Action, 'title' | 'consequence' | 'isIrreversible' | 'reason'>>> = {
  retry: {
    title: 'Try again',
    consequence: 'The move is tried again. If the credential was accepted before, only the sync and the check repeat.',
    isIrreversible: false,
    reason: 'optional',
  },
  relink: {
    title: 'Check the reconnection',
    consequence: 'We check whether the owner has reconnected the company. Do this after the owner has used the link.',
    isIrreversible: false,
    reason: 'none',
  },
  replaceCredential: {
    title: 'Supply a new credential',
    consequence: 'The new credential is encrypted in this browser, and the move is tried again with it.',
    isIrreversible: false,
    reason: 'none',
  },
  skip: {
    title: 'Give up and leave out',
    consequence:
      'The company is left out of this migration. If you turned off syncing for it in your own application, turn it back on.',
    isIrreversible: true,
    reason: 'required',
  },
  exclude: {
    title: 'Leave out',
    consequence:
      'The company will not be moved. If you turned off syncing for it in your own application, turn it back on.',
    isIrreversible: true,
    reason: 'required',
  },
};

export const companyDecisionTitle = (message: CompanyDecision): string => TEXTS[message].title;

/** Opens the dialog of a decision about companies that were chosen in the list. */
export function openCompanyDecision(app: App, message: CompanyDecision, companies: readonly Company[]): void {
  const listed = companies.slice(0, 10).map(({ name, reference, problem }) => {
    const about = `${name} (${reference})`;
    return problem === null ? about : `${about}: ${problem}`;
  });
  const more = companies.length - listed.length;
  const facts = more > 0 ? [...listed, `and ${counted(more, 'more company')}`] : listed;
  openAction(app, { message, facts, isExpected: false, ...TEXTS[message] }, companies);
}
