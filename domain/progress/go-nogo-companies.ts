/** Go or no-go: whether the companies that move next have what they need. */
import { counted, momentText, namedCompanies, numberText } from '../text/sentences';
import type { Answer, ChosenFirst, GoNoGoFacts, NextCompanies } from './go-nogo-facts';

type Facts = Pick<GoNoGoFacts, 'next' | 'progress' | 'chosenFirst'>;

export function companyAnswers({ next, progress, chosenFirst }: Facts): readonly Answer[] {
  const ofWave = waveText(next);
  // The companies that move next do not include companies that the preflight holds back.
  const exceptHeldBack = (progress?.counts.heldBack ?? 0) > 0 ? ' that is not held back' : '';
  const { unconfirmed } = next;
  const confirmed = progress?.counts.unconfirmed === 0 ? '' : ofWave;
  if (progress?.counts.total === 0)
    return [{ check: 'companies', go: false, why: 'no manifest has been supplied yet' }];
  return [
    {
      check: 'sync-disabled',
      go: unconfirmed === 0,
      why:
        unconfirmed === 0
          ? `the client has confirmed that syncing is off for every company${confirmed}${exceptHeldBack}`
          : `for ${counted(unconfirmed, 'company')}${ofWave}, the client has not confirmed that syncing is off`,
    },
    credentialAnswer(next, ofWave, exceptHeldBack),
    movableAnswer({ next, progress, chosenFirst }, ofWave),
    ...(chosenFirst === null ? [] : [firstCompanyAnswer(chosenFirst)]),
  ];
}

/** Names the wave of the companies that move next. Companies without a wave move last. */
function waveText({ wave, leftBehind }: NextCompanies): string {
  if (wave !== null) return ` of wave ${wave}`;
  return leftBehind > 0 ? ' without a wave' : '';
}

/** Checks that the chosen first company can be moved, because no other company moves before it. */
function firstCompanyAnswer({ reference, notReady }: ChosenFirst): Answer {
  const check = 'first-company';
  return notReady === null
    ? { check, go: true, why: `${reference} was chosen to go first, and is ready` }
    : { check, go: false, why: `${reference} was chosen to go first, but cannot be moved: ${notReady}` };
}

function credentialAnswer(next: NextCompanies, ofWave: string, exceptHeldBack: string): Answer {
  const { companies, unconfirmed, withoutCredential, firstWithoutCredential, oldestCredentialAt } = next;
  const check = 'credentials';
  if (companies > 0 && unconfirmed === companies) {
    const are = `${counted(companies, 'company')}${ofWave} ${companies === 1 ? 'is' : 'are'}`;
    const why = `a credential cannot be used before its company is confirmed, and ${are} not confirmed yet`;
    return { check, go: false, why };
  }
  if (withoutCredential > 0) {
    const missing = namedCompanies(withoutCredential, firstWithoutCredential, 'confirmed company');
    return { check, go: false, why: `a usable credential is missing for ${missing}${ofWave}` };
  }
  const oldest = oldestCredentialAt === null ? '' : `; the oldest is from ${momentText(oldestCredentialAt)}`;
  const every = `every confirmed company${ofWave}${exceptHeldBack}`;
  return { check, go: true, why: `${every} has a usable credential${oldest}` };
}

/**
 * Checks that a company can be moved. A chosen first company that was tried before is not among the next companies,
 * because it waits only once the next window has opened.
 */
function movableAnswer({ next, progress, chosenFirst }: Facts, ofWave: string): Answer {
  const { leftBehind, firstLeftBehind } = next;
  const ready = next.companies - next.unconfirmed - next.withoutCredential;
  const { heldBack = 0, importing = 0, syncing = 0 } = progress?.counts ?? {};
  const moving = importing + syncing;
  const isAnyReady = ready + moving > 0;
  const onlyFirst = !isAnyReady && chosenFirst?.notReady === null ? chosenFirst.reference : null;
  const go = isAnyReady || onlyFirst !== null;
  return {
    check: 'companies',
    go,
    ...(go && leftBehind + heldBack > 0 ? { warning: true } : {}),
    why: [
      isAnyReady ? `${counted(ready, 'company')}${ofWave} can be moved` : noneMovableText(next, ofWave, onlyFirst),
      ...(moving === 0 ? [] : [`${counted(moving, 'company')} ${moving === 1 ? 'is' : 'are'} moving`]),
      ...(leftBehind === 0
        ? []
        : [`${namedCompanies(leftBehind, firstLeftBehind)} of earlier waves cannot be moved yet`]),
      ...(heldBack === 0
        ? []
        : [`${counted(heldBack, 'company')} ${heldBack === 1 ? 'is' : 'are'} held back by the preflight`]),
    ].join(', '),
  };
}

/** @param onlyFirst the chosen first company, if it can go first although the next companies cannot be moved */
function noneMovableText(
  { companies, unconfirmed, withoutCredential }: NextCompanies,
  ofWave: string,
  onlyFirst: string | null,
): string {
  const none = onlyFirst === null ? 'no company' : `${onlyFirst} can go first; no other company`;
  if (companies === 0) return `${none} can be moved`;
  const missing = [
    ...(unconfirmed === 0 ? [] : [`${numberText(unconfirmed)} not confirmed`]),
    ...(withoutCredential === 0 ? [] : [`${numberText(withoutCredential)} without a usable credential`]),
  ];
  return `${none}${ofWave} can be moved yet (${missing.join(', ')})`;
}
