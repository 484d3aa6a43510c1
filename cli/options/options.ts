import { Argument, InvalidArgumentError, Option, type Command } from 'commander';

import { findPlatform, PLATFORMS, type Platform, type Route } from '../../platforms/platforms';
import type { NamedApprover } from '../reporting/trail-approvers';
import { isPublicKey, type Approver } from '../../domain/migration/approvers';
import { nearest } from '../../domain/text/nearest';
import { eitherOf } from '../../domain/text/sentences';
import { inheritedOptions } from '../reference/commands';
import { isRole, ROLES } from '../../domain/migration/steps';

/** Makes an option with a fixed set of values; the error for a misspelt value suggests similar values. */
export function choiceOption(flags: string, description: string, choices: readonly string[]): Option {
  return new Option(flags, description).choices(choices).argParser((text) => parseChoice(text, choices));
}

/** Makes an argument with a fixed set of values, like {@link choiceOption}. */
export function choiceArgument(usage: string, description: string, choices: readonly string[]): Argument {
  return new Argument(usage, description).choices(choices).argParser((text) => parseChoice(text, choices));
}

function parseChoice(text: string, choices: readonly string[]): string {
  if (choices.includes(text)) return text;
  throw notAmong(text, choices);
}

/** Makes an option whose value is a whole number. */
export function integerOption(flags: string, description: string, least = 0): Option {
  return new Option(flags, description).argParser((text) => {
    if (/^\d{1,9}$/.test(text) && Number(text) >= least) return Number(text);
    throw new InvalidArgumentError(`Expected a whole number from ${least} to 999,999,999.`);
  });
}

/** Makes an option whose value is a TCP port; 0 lets the operating system choose one. */
export function portOption(flags: string, description: string): Option {
  return new Option(flags, description).argParser((text) => {
    if (/^\d{1,5}$/.test(text) && Number(text) <= 65_535) return Number(text);
    throw new InvalidArgumentError('Expected a port number up to 65535.');
  });
}

/** Makes `--platform <name>`. Its help lists the platforms of the route, or, for both, those of the managed route. */
export function platformOption(route: Route | 'both' = 'managed'): Option {
  const listed = route === 'both' ? 'managed' : route;
  const slugs = PLATFORMS.filter(({ routes }) => routes.includes(listed)).map(({ slug }) => slug);
  const others = route === 'both' ? ', or a platform of the self-service route (docs/platforms.md)' : '';
  return new Option('-p, --platform <name>', `platform of the companies: ${slugs.join(', ')}${others}`)
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
  const near = similar(text, choices);
  return new InvalidArgumentError(
    near.length === 0 ? `Choose one of: ${choices.join(', ')}.` : `Did you mean ${eitherOf(near)}?`,
  );
}

/**
 * Asserts that the command knows all long options on the command line. Commander first checks whether a required option
 * is missing, so without this check it would report a misspelt option as a missing one.
 *
 * @param args the arguments on the command line, which begin with the names of the command
 * @throws CommanderError
 */
export function assertKnownOptions(program: Command, args: readonly string[]): void {
  const { command, rest } = findCommand(program, args);
  // Commander itself reports an unknown command.
  if (command.commands.length > 0 && rest.some((arg) => !arg.startsWith('-'))) return;
  const known = [...command.createHelp().visibleOptions(command), ...inheritedOptions(command)];
  for (let index = 0; index < rest.length && rest[index] !== '--'; index++) {
    const [name = ''] = rest[index]?.split('=') ?? [];
    if (name === '--help' || name === '-h') return;
    const option = known.find(({ long, short }) => name === long || name === short);
    if (option?.required && !rest[index]?.includes('=')) index += 1;
    if (option !== undefined || !/^--\w/.test(name)) continue;
    const near = similar(
      name,
      known.flatMap(({ long }) => long ?? []),
    );
    const suggestion = near.length === 0 ? '' : `\n(Did you mean ${eitherOf(near)}?)`;
    command.error(`error: unknown option '${name}'${suggestion}`, { code: 'commander.unknownOption', exitCode: 1 });
  }
}

/** Finds the command, or the group, that the first arguments name. */
export function findCommand(
  program: Command,
  args: readonly string[],
): { readonly command: Command; readonly rest: readonly string[] } {
  const [name, ...rest] = args;
  const command = program.commands.find((each) => each.name() === name);
  return command === undefined ? { command: program, rest: args } : findCommand(command, rest);
}

/** Makes `--total-invoices <number>`: the volume of all companies, if the rows of the manifest do not contain it. */
export function totalInvoicesOption(): Option {
  const description = 'total invoices of all companies, for the estimate, if the manifest does not contain them';
  return integerOption('--total-invoices <number>', description);
}

/** Adds `--reason <text>` to a command that decides something. */
export function addReasonOption(command: Command, reason: 'required' | 'optional'): Command {
  const option = ['--reason <text>', 'reason for the decision; the audit trail records it'] as const;
  return reason === 'required' ? command.requiredOption(...option) : command.option(...option);
}

/** Makes `--environment <name>`: the platform's environment in which an application is registered. */
export function environmentOption(description: string): Option {
  return choiceOption('--environment <name>', description, ['production', 'sandbox']);
}

/** Makes `--search <text>`, which selects companies. */
export function searchOption(): Option {
  const where = 'in their reference or name, or in the name stored at the service';
  return new Option('--search <text>', `only companies with this text ${where}; case and accents are ignored`);
}

/** Makes `--wave <number>`, which selects companies. */
export function waveOption(): Option {
  return integerOption('--wave <number>', 'only companies of this wave');
}

/** Makes `--without-credential`, which selects companies. */
export function withoutCredentialOption(): Option {
  const description = 'only companies that could be moved if they had a usable credential';
  return new Option('--without-credential', description);
}

/** Makes `--approver <role:name:key>`: a person whose signed decisions are accepted. */
export function approverOption(purpose: string): Option {
  return new Option(
    '--approver <role:name:key>',
    `${purpose}: role (client or support), name and public key; repeat the option for more people`,
  ).argParser((text: string, before: readonly Approver[] = []) => [...before, parseApprover(text)]);
}

/** Makes `--approver <role:name:key>`, in which the key can also be its fingerprint. */
export function namedApproverOption(purpose: string): Option {
  return new Option(
    '--approver <role:name:key>',
    `${purpose}: role (client or support), name, and public key or its fingerprint; repeat the option for more people`,
  ).argParser((text: string, before: readonly NamedApprover[] = []) => [...before, parseNamedApprover(text)]);
}

function parseNamedApprover(text: string): NamedApprover {
  const [, role, by, digits = ''] = /^([^:]+):(.+):([^:]+)$/.exec(text) ?? [];
  const fingerprint = parseFingerprint(digits);
  if (isRole(role) && by !== undefined && fingerprint !== null) return { role, by, fingerprint };
  return parseApprover(text, 'a public key, as printed by ferry keys create, or its fingerprint');
}

/** Returns a fingerprint in the form in which it is printed; null if the text is not a fingerprint. */
export function parseFingerprint(text: string): string | null {
  const digits = text.toLowerCase().replace(/[\s-]/g, '');
  return /^[0-9a-f]{32}$/.test(digits) ? (digits.match(/.{4}/g) ?? []).join('-') : null;
}

/**
 * Parses `role:name:key`.
 *
 * @param expectedKey describes the key in the error
 */
export function parseApprover(text: string, expectedKey = 'a public key, as printed by ferry keys create'): Approver {
  const [, role, by, publicKey] = /^([^:]+):(.+):([0-9a-f]{64})$/.exec(text) ?? [];
  if (!isRole(role) || by === undefined || !isPublicKey(publicKey)) {
    throw new InvalidArgumentError(
      `Expected role:name:key, where role is ${ROLES.join(' or ')}, and key is ${expectedKey}.`,
    );
  }
  return { role, by, publicKey };
}

const MAX_SIMILAR = 3;

/**
 * Returns the candidates that begin with the word (at most three), or else the most similar one; empty if none is
 * similar enough.
 */
export function similar(word: string, candidates: Iterable<string>): readonly string[] {
  const all = [...new Set(candidates)];
  const longer = word.length < 2 ? [] : all.filter((candidate) => candidate.startsWith(word.toLowerCase()));
  if (longer.length > 0) return longer.slice(0, MAX_SIMILAR);
  const near = nearest(word, all);
  return near === undefined ? [] : [near];
}
