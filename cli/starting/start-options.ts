/** Checks the options of the commands that start a migration: `ferry start` and `ferry self-service`. */
import { parseLimits, type LimitsChange } from '../../domain/planning/limits';
import type { Platform, Route } from '../../platforms/platforms';
import { isIdWord, isReservedLabel } from '../../domain/migration/temporal-names';
import { LabelReserved } from '../../client';
import { CommandFailed } from '../shared/errors';
import { limitsFrom, type LimitOptions } from '../options/limit-options';

export interface StartTarget {
  readonly platform: Platform;
  readonly client: string;
  readonly label?: string;
}

/**
 * Checks that the client and label can be part of an id, and that the platform has this route.
 *
 * @param file the arguments that read the manifest, for the suggested command; undefined without a manifest
 * @throws CommandFailed
 * @throws LabelReserved
 */
export function assertStartable(
  { client, label, platform, totalInvoices }: StartTarget & { readonly totalInvoices?: number },
  route: Route,
  file?: string,
): void {
  for (const [option, word] of [
    ['--client', client],
    ['--label', label],
  ] as const) {
    if (word !== undefined && !isIdWord(word)) {
      throw new CommandFailed(
        `${option} ${word} cannot be part of an id`,
        'use up to 64 characters: a-z, 0-9 and hyphens, without a hyphen at the beginning or end',
      );
    }
  }
  if (label !== undefined && isReservedLabel(label)) throw new LabelReserved(`the label ${label} is reserved`);
  if (platform.routes.includes(route)) return;
  const manifest = file ?? 'companies.csv';
  const others =
    (label === undefined ? '' : ` --label ${label}`) +
    (totalInvoices === undefined ? '' : ` --total-invoices ${totalInvoices}`);
  throw route === 'managed'
    ? new CommandFailed(
        `${platform.name} has no managed route`,
        `the client must move these companies, with: ferry self-service ${manifest} --platform ${platform.slug} --client ${client}${others}`,
      )
    : new CommandFailed(
        `${platform.name} has no self-service route: the service accepts authorizations for it only from the provider`,
        `the provider must move these companies, with: ferry start ${manifest} --platform ${platform.slug} --client ${client}${others}`,
      );
}

/**
 * Returns the specified limits after checking that their values are allowed.
 *
 * @throws CommandFailed
 */
export function readLimitOptions(options: LimitOptions): LimitsChange {
  const limits = limitsFrom(options);
  if (Object.keys(limits).length === 0) return {};
  const read = parseLimits(limits);
  if ('malformed' in read) throw new CommandFailed(read.malformed, 'nothing was started');
  return read.limits;
}
