/**
 * The search attributes of a migration. They are never encrypted, so they contain only keywords (step, state, roles)
 * and counts, and no names.
 */
import type { SearchAttributeUpdatePair } from '@temporalio/common';
import { defineSearchAttributeKey } from '@temporalio/common/lib/search-attributes';
import { countFinished } from '../../domain/companies/counts';
import type { Progress } from '../../domain/progress/progress';
import { SEARCH_ATTRIBUTES } from '../messages';

const STEP = defineSearchAttributeKey('FerryStep', SEARCH_ATTRIBUTES.FerryStep);
const STATE = defineSearchAttributeKey('FerryState', SEARCH_ATTRIBUTES.FerryState);
const WAITING_FOR = defineSearchAttributeKey('FerryWaitingFor', SEARCH_ATTRIBUTES.FerryWaitingFor);
const TOTAL = defineSearchAttributeKey('FerryCompaniesTotal', SEARCH_ATTRIBUTES.FerryCompaniesTotal);
const DONE = defineSearchAttributeKey('FerryCompaniesDone', SEARCH_ATTRIBUTES.FerryCompaniesDone);
const FAILED = defineSearchAttributeKey('FerryCompaniesFailed', SEARCH_ATTRIBUTES.FerryCompaniesFailed);

export function searchAttributesOf({ route, step, state, waitingFor, counts }: Progress): SearchAttributeUpdatePair[] {
  return [
    // People see no steps in a self-service migration.
    { key: STEP, value: route === 'self-service' ? route : step },
    { key: STATE, value: state },
    { key: WAITING_FOR, value: waitingFor.roles.join(' and ') || 'nobody' },
    { key: TOTAL, value: counts.total },
    { key: DONE, value: countFinished(counts) },
    { key: FAILED, value: counts.failed },
  ];
}
