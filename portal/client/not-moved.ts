/** The companies that were not moved, which the page and `ferry --portal` name before a person signs off. */
import { notMovedText } from '../../domain/companies/company-state';
import type { MigrationView } from '../contract/migration-view';
import type { Company, CompanyFilter, CompanyState } from './api';

const NOT_MOVED = ['must-reconnect', 'not-moved', 'left-out'] as const satisfies readonly CompanyState[];

export interface NotMoved {
  readonly companies: readonly (Pick<Company, 'reference' | 'name'> & { readonly why: string })[];
  /** The number of companies beyond the limit. */
  readonly more: number;
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
      if (companies.length === most) return { companies, more: mustReconnect + notMoved + leftOut - most };
      companies.push({ reference, name, why: notMovedText(state, problem) });
    }
  }
  return { companies, more: 0 };
}
