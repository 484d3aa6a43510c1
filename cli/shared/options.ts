import { InvalidArgumentError, Option } from 'commander';

import { findPlatform, PLATFORMS, type Platform, type Route } from '../../platforms/platforms';
import type { Approver } from '../../domain/migration/signatures';
import { isRole, ROLES } from '../../domain/migration/steps';

/** Makes an option with a fixed set of values; the error for a misspelt value suggests the most similar one. */
export function choiceOption(flags: string, description: string, choices: readonly string[]): Option {
  return new Option(flags, description).choices(choices).argParser((text) => {
    if (choices.includes(text)) return text;
    throw notAmong(text, choices);
  });
}

/** Makes an option whose value is a whole number. */
export function integerOption(flags: string, description: string, least = 0): Option {
  return new Option(flags, description).argParser((text) => {
    if (/^\d{1,9}$/.test(text) && Number(text) >= least) return Number(text);
    throw new InvalidArgumentError(`Expected a whole number${least === 0 ? '' : ` of at least ${least}`}.`);
  });
}

/** Makes an option whose value is a TCP port; 0 lets the operating system choose one. */
export function portOption(flags: string, description: string): Option {
  return new Option(flags, description).argParser((text) => {
    if (/^\d{1,5}$/.test(text) && Number(text) <= 65_535) return Number(text);
    throw new InvalidArgumentError('Expected a port number up to 65535.');
  });
}

/** Makes `--platform <name>`. Its help lists the platforms of the route. */
export function platformOption(route: Route = 'managed'): Option {
  const slugs = PLATFORMS.filter(({ routes }) => routes.includes(route)).map(({ slug }) => slug);
  return new Option(
    '-p, --platform <name>',
    `platform of the companies: ${slugs.join(', ')}${route === 'managed' ? ', ...' : ''}`,
  )
    .argParser(parsePlatform)
    .makeOptionMandatory();
}

function parsePlatform(text: string): Platform {
  const platform = findPlatform(text);
  if (platform) return platform;
  throw notAmong(
    text,
    PLATFORMS.map(({ slug }) => slug),
  );
}

function notAmong(text: string, choices: readonly string[]): InvalidArgumentError {
  const near = nearest(text, choices);
  return new InvalidArgumentError(
    near === undefined ? `Choose one of: ${choices.join(', ')}.` : `Did you mean ${near}?`,
  );
}

/** Makes `--total-invoices <number>`: the volume of all companies, if the rows of the manifest do not contain it. */
export function totalInvoicesOption(): Option {
  const description = 'total invoices of all companies, for the estimate, if the manifest does not contain them';
  return integerOption('--total-invoices <number>', description);
}

/** Makes `--approver <role:name:key>`: a person whose signed decisions are accepted. */
export function approverOption(purpose: string): Option {
  return new Option(
    '--approver <role:name:key>',
    `${purpose}: role (client or support), name, public key; can be repeated`,
  ).argParser((text: string, before: readonly Approver[] = []) => [...before, parseApprover(text)]);
}

function parseApprover(text: string): Approver {
  const [, role, by, publicKey] = /^([^:]+):(.+):([0-9a-f]{64})$/.exec(text) ?? [];
  if (!isRole(role) || by === undefined || publicKey === undefined) {
    throw new InvalidArgumentError(
      `Expected ${ROLES.join(' or ')}, a name and a public key, as printed by ferry keys create.`,
    );
  }
  return { role, by, publicKey };
}

/** Returns the candidate most similar to a misspelt word; undefined if none is similar enough. */
export function nearest(word: string, candidates: Iterable<string>): string | undefined {
  let best: { candidate: string; distance: number } | undefined;
  for (const candidate of candidates) {
    const distance = editDistance(word.toLowerCase(), candidate.toLowerCase());
    if (distance < (best?.distance ?? Math.min(3, candidate.length / 2) + Number.EPSILON))
      best = { candidate, distance };
  }
  return best?.candidate;
}

/** Returns the Levenshtein distance: the number of letters that must be added, removed or replaced. */
function editDistance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, j) => j);
  for (let i = 1; i <= a.length; i++) {
    const next = [i];
    for (let j = 1; j <= b.length; j++) {
      const replaced = at(row, j - 1) + (a[i - 1] === b[j - 1] ? 0 : 1);
      next.push(Math.min(at(row, j) + 1, at(next, j - 1) + 1, replaced));
    }
    row = next;
  }
  return at(row, b.length);
}

const at = (row: readonly number[], index: number): number => row[index] ?? Infinity;
