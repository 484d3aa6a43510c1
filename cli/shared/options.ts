import { InvalidArgumentError, Option } from 'commander';

import { findPlatform, PLATFORMS, type Platform, type Route } from '../../platforms/platforms';
import type { Approver } from '../../domain/migration/signatures';
import { isRole, ROLES } from '../../domain/migration/steps';
import { nearest } from './spelling';

/** An option whose value is one of a few words; one that is misspelt is answered with the one that was probably meant. */
export function wordOption(flags: string, description: string, words: readonly string[]): Option {
  return new Option(flags, description).choices(words).argParser((text) => {
    if (words.includes(text)) return text;
    const near = nearest(text, words);
    throw new InvalidArgumentError(near === undefined ? `One of: ${words.join(', ')}.` : `Did you mean ${near}?`);
  });
}

/** A whole number, from `least` on. */
export function countOption(flags: string, description: string, least = 0): Option {
  return new Option(flags, description).argParser((text) => {
    if (/^\d{1,9}$/.test(text) && Number(text) >= least) return Number(text);
    throw new InvalidArgumentError(`A whole number is expected${least === 0 ? '' : `, from ${least} on`}.`);
  });
}

/** Those of a route: what people are likely to look for. */
function namesOf(route: Route): string {
  const ofRoute = PLATFORMS.filter(({ routes }) => routes.includes(route));
  return ofRoute.map(({ slug }) => slug).join(', ');
}

/** `--platform quickbooks-online`: which platform the companies come from. */
export function platformOption(route: Route = 'managed'): Option {
  return new Option(
    '-p, --platform <name>',
    `the platform that the companies come from: ${namesOf(route)}${route === 'managed' ? ', ...' : ''}`,
  )
    .argParser(parsePlatform)
    .makeOptionMandatory();
}

/** `--total-invoices 12000`: the volume, where the rows of a manifest do not say it one by one. */
export function totalInvoicesOption(): Option {
  const what = 'invoices of all companies together, where their rows do not say: for the estimate';
  return countOption('--total-invoices <number>', what);
}

/** `--approver support:Sam:4f1c...`: whose signed decisions a migration takes. Several times. */
export function approverOption(): Option {
  return new Option(
    '--approver <role:name:key>',
    'take signed decisions only, and those of this person: client or support, the name, the public key (several times)',
  ).argParser((text: string, before: readonly Approver[] = []) => [...before, parseApprover(text)]);
}

function parseApprover(text: string): Approver {
  const [, role, by, publicKey] = /^([^:]+):(.+):([0-9a-f]{64})$/.exec(text) ?? [];
  if (!isRole(role) || by === undefined || publicKey === undefined) {
    throw new InvalidArgumentError(`As ferry keys create prints it: ${ROLES.join(' or ')}, the name, the public key.`);
  }
  return { role, by, publicKey };
}

function parsePlatform(text: string): Platform {
  const platform = findPlatform(text);
  if (platform) return platform;
  const slugs = PLATFORMS.map(({ slug }) => slug);
  const near = nearest(text, slugs);
  throw new InvalidArgumentError(near === undefined ? `Platforms are: ${slugs.join(', ')}.` : `Did you mean ${near}?`);
}
