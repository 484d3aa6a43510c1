/** The companies that were not moved, which the page and `ferry --portal` name before a person signs off. */
import { notMovedText } from '../../domain/companies/company-state';
import { eitherOf } from '../../domain/text/sentences';
import type { MigrationView } from '../contract/migration-view';
import type { Company, CompanyFilter, CompanyState } from './api';

const NOT_MOVED = ['must-reconnect', 'not-moved', 'left-out'] as const satisfies readonly CompanyState[];

export interface NotMoved {
  readonly companies: readonly (Pick<Company, 'reference' | 'name'> & { readonly why: string })[];
  /**
   * The number of companies beyond the limit, according to the counts. At least 1 if there are any, because the counts
   * can be older than the list.
   */
  readonly more: number;
}

/**
 * Returns the title of the list, with the words of the states that have companies: `The companies that must reconnect
 * or were left out`. Contains no number, because the facts of the sign-off above it count the companies in each state.
 */
export function notMovedTitle(
  companies: number,
  { mustReconnect, notMoved, leftOut }: Pick<MigrationView['counts'], 'mustReconnect' | 'notMoved' | 'leftOut'>,
): string {
  const were = companies === 1 ? 'was' : 'were';
  const states = [
    ...(mustReconnect > 0 ? ['must reconnect'] : []),
    ...(notMoved > 0 ? [`${were} not moved`] : []),
    ...(leftOut > 0 ? [`${were} left out`] : []),
  ];
  return `${companies === 1 ? 'The company' : 'The companies'} that ${states.length === 0 ? `${were} not moved` : eitherOf(states)}`;
}

/** @param most the largest number of companies to name */
export async function readNotMoved(
  eachCompany: (filter: CompanyFilter) => AsyncIterable<Company>,
  { mustReconnect, notMoved, leftOut }: MigrationView['counts'],
  most: number,
): Promise<NotMoved> {
  const companies: NotMoved['companies'][number][] = [];
  for (const state of NOT_MOVED) {
    for await (const { reference, name, problem } of eachCompany({ state })) {
      if (companies.length === most) return { companies, more: Math.max(1, mustReconnect + notMoved + leftOut - most) };
      companies.push({ reference, name, why: notMovedText(state, problem) });
    }
  }
  return { companies, more: 0 };
}
