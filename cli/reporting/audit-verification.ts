/** Verifies the signatures of an exported audit trail. Needs only the file and the approvers' public keys. */
import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { createInterface } from 'node:readline';
import {
  isEndOfApprover,
  isEndSigned,
  trailEndProblem,
  isTrailEnd,
  isTrailEntry,
  createTrailVerifier,
  type EntryProof,
  type SignedTrailEnd,
  type TrailEnd,
  type TrailEntry,
} from '../../domain/decisions/audit-trail';
import { createLedgerProof, isLedgerLine, type LedgerSummary } from '../../domain/decisions/ledger-proof';
import { approverFingerprint, type Approver } from '../../domain/migration/approvers';
import { roleText, type Role } from '../../domain/migration/steps';
import { counted } from '../../domain/text/sentences';
import {
  adviceAboutKeys,
  adviceAboutPeople,
  createKeyFinder,
  verificationCommand,
  type NamedApprover,
} from './trail-approvers';
import { createOriginCheck, ofOtherMigration } from './trail-origin';
import { CommandFailed } from '../shared/errors';
import { unreadableFile } from '../shared/unreadable-file';
import type { CommandResult, Output } from '../terminal/output';
import { localTime } from '../terminal/times';

interface Unproven {
  readonly line: number;
  /** Null if the line is not a decision. */
  readonly decisionId: string | null;
  readonly why: string;
}

interface Verification {
  readonly entries: number;
  readonly unproven: readonly Unproven[];
  /** Number of applied decisions of support that are not verified, because no key of support is given. */
  readonly unverified: number;
  /** The approvers that were added by signed decisions. */
  readonly added: readonly Approver[];
  /** The last line with the signature of the export; null if the file has none. */
  readonly end: TrailEnd | null;
  /**
   * Why the last line was not checked, as the middle of a sentence; also set if there is no last line. Null if it was
   * checked. If the check failed, `unproven` says why.
   */
  readonly unprovenEnd: string | null;
  /**
   * True if the file contains the ledger's confirmations and release. The verification has then compared them with the
   * signed decisions, unless `notGiven` or `unknown` contains people.
   */
  readonly hasLedger: boolean;
  /**
   * Texts about decisions that could not be signed, because their role had no key yet, and about confirmations that
   * need no decision.
   */
  readonly notes: readonly string[];
  /** The approvers whose keys must also be given. Without them, the ledger is not compared. */
  readonly notGiven: readonly Approver[];
  /** The people in whose name decisions are signed with other keys. The ledger is then not compared either. */
  readonly unknown: readonly Omit<Approver, 'publicKey'>[];
}

/**
 * Verifies an exported audit trail.
 *
 * @param file an export of `ferry audit --format jsonl`
 * @throws CommandFailed if no approvers are given, or if the file is empty, cannot be read, or contains a line that is
 * not JSON
 */
export async function verifyTrail(
  file: string,
  migrationId: string,
  named: readonly NamedApprover[],
): Promise<CommandResult> {
  if (named.length === 0) {
    throw new CommandFailed(
      'verifying a trail requires the public keys of the approvers, or their fingerprints',
      'add --approver role:name:fingerprint for each approver. Ask each person for the fingerprint, or use another source that you trust, because keys that came with the trail prove nothing',
    );
  }
  const keys = createKeyFinder();
  let isEmpty = true;
  for await (const { value } of readLines(file, migrationId)) {
    isEmpty = false;
    keys.addFrom(value);
  }
  if (isEmpty) throw new CommandFailed(`${file} is empty`, adviceToExport(migrationId));
  const found = named.map((each) => keys.find(each));
  const approvers = found.map(({ approver }) => approver);
  const verification = await verify(file, migrationId, approvers);
  const { entries, unproven, unverified, added, end, unprovenEnd, notGiven, unknown } = verification;
  return {
    failed: unproven.length > 0,
    json: {
      schema: 'ferry.audit-verification/1',
      migrationId,
      entries,
      unproven,
      unverified,
      added,
      end: unprovenEnd === null ? end : null,
    },
    print: (output) => {
      // Before the unproven lines, because a migration to which a key was added later has many, although it is honest.
      for (const note of verification.notes) output.line(note);
      for (const { line, decisionId, why } of unproven) {
        const what = decisionId === null ? '' : `, decision ${decisionId}`;
        output.line(`${output.styled('red', '✗')} line ${line}${what}: ${why}`);
      }
      if (notGiven.length + unknown.length > 0) {
        output.line(unknown.length > 0 ? adviceAboutPeople(unknown, notGiven) : adviceAboutKeys(notGiven));
        const asked = unknown.map((each) => ({ ...each, fingerprint: 'fingerprint' }));
        output.line(`  ${verificationCommand(migrationId, [...named, ...notGiven, ...asked], file)}`);
      }
      if (unproven.length === 0) printVerified(output, verification);
      for (const { approver } of found.filter(({ isInTrail }) => !isInTrail))
        output.line(
          `${output.styled('yellow', '!')} nothing in the trail is signed with the key that you passed for ${approver.by} (${approver.role})`,
        );
    },
  };
}

async function verify(file: string, migrationId: string, approvers: readonly Approver[]): Promise<Verification> {
  const verifier = createTrailVerifier(migrationId, approvers);
  const unproven: Unproven[] = [];
  const digest = createHash('sha256');
  const proof = createLedgerProof();
  const origin = createOriginCheck(migrationId);
  let hasLedger = false;
  let end: TrailEnd | null = null;
  let entries = 0;
  let unverified = 0;
  // If only keys of the client are given, the signature of an export by support cannot be verified.
  const isEndVerified = (last: SignedTrailEnd): boolean =>
    approvers.some(({ role }) => role === 'support') || isEndOfApprover(last, verifier.approvers());
  let unprovenEnd: string | null = 'itself is not signed, so';
  const unsigned = createUnsignedNotes(approvers);
  let ledgerNotes: readonly string[] = [];
  for await (const { line, text, value } of readLines(file, migrationId)) {
    if (end) unproven.push({ line, decisionId: null, why: 'this line comes after the signed last line of the trail' });
    else if (isTrailEntry(value)) {
      entries += 1;
      digest.update(`${text}\n`);
      const result = verifier.verify(value);
      origin.add(line, value);
      unsigned.add(line, value, result.proof);
      if (result.proof === 'none') unproven.push({ line, decisionId: value.decision.decisionId, why: result.why });
      else proof.add(value.decision, { applied: value.applied, at: value.at });
      if (result.proof === 'unverified') unverified += 1;
    } else if (isTrailEnd(value)) {
      end = value.end;
      if (isEndVerified(value)) unprovenEnd = null;
      else
        // The commands that ferry prints name no key of support if support need not sign: with such a key, ferry would
        // demand a signature for each decision of support.
        unprovenEnd = isEndSigned(value)
          ? 'is signed with a key that you did not pass. The decisions of the client are verified without this key, but'
          : 'itself is not validly signed, so';
      if (end.migrationId !== migrationId) {
        const why = `this is the trail of ${end.migrationId}, not of ${migrationId}`;
        const other = ofOtherMigration(line, why);
        return { ...other, entries, unverified, added: verifier.added(), end, unprovenEnd, hasLedger };
      }
      const lines = { migrationId, entries, sha256: digest.digest('hex') };
      const why = unprovenEnd === null ? trailEndProblem(value, lines, verifier.approvers()) : null;
      if (why !== null) unproven.push({ line, decisionId: null, why });
    } else if (isLedgerLine(value) && !hasLedger) {
      hasLedger = true;
      ledgerNotes = notesAbout(value.ledger);
      digest.update(`${text}\n`);
      // Without all keys, the proof lacks signed decisions, so correct parts of the ledger would seem unproven.
      if (verifier.notGiven().length + verifier.unknown().length === 0)
        for (const why of proof.differences(value.ledger)) unproven.push({ line, decisionId: null, why });
    } else unproven.push({ line, decisionId: null, why: 'this line is not an entry of an audit trail' });
  }
  const foreign = end === null ? origin.problem() : null;
  if (foreign !== null)
    return { ...foreign, entries, unverified, added: verifier.added(), end, unprovenEnd, hasLedger };
  return {
    ...{ entries, unproven, unverified, end, unprovenEnd, hasLedger },
    added: verifier.added(),
    notes: [...unsigned.notes(), ...ledgerNotes],
    notGiven: verifier.notGiven(),
    unknown: verifier.unknown(),
  };
}

/**
 * Explains decisions that could not be signed, because the first key of their role had not been added yet. These
 * decisions stay unproven: anyone who changes a trail could also add the line that says when the key was added.
 */
function createUnsignedNotes(given: readonly Approver[]) {
  const lines: Partial<Record<Role, number[]>> = {};
  const notes = new Map<Role, string>();
  return {
    add(line: number, { decision, signed, applied, at }: TrailEntry, proof: EntryProof['proof']): void {
      const role = decision.role ?? 'client';
      if (proof === 'none' && !signed) (lines[role] ??= []).push(line);
      if (!applied || decision.kind !== 'add-approver' || decision.role !== 'support') return;
      const { approver } = decision;
      const isGiven = given.some(({ publicKey }) => publicKey === approver.publicKey);
      const before = lines[approver.role] ?? [];
      if (!isGiven || before.length === 0 || notes.has(approver.role)) return;
      const which = before.length === 1 ? `line ${before[0]}` : `lines ${before[0]} to ${before.at(-1)}`;
      const these = before.length === 1 ? 'this decision' : 'these decisions';
      notes.set(
        approver.role,
        `According to line ${line}, support added the key of ${approver.by} (${approver.role}) on ${localTime(at)}. ${counted(before.length, 'decision')} of ${roleText(approver.role)}, in ${which}, ${before.length === 1 ? 'is' : 'are'} older and not signed. Nothing proves the author or the content of ${these}. Ask ${approver.by} about ${these}.`,
      );
    },
    notes: (): readonly string[] => [...notes.values()],
  };
}

/**
 * Says that the ledger calls the migration self-service, a route in which no decision confirms companies. The
 * confirmations stay unproven, because anyone who changes the ledger could change the route too.
 */
function notesAbout({ route, confirmations }: LedgerSummary): readonly string[] {
  if (route !== 'self-service' || confirmations.length === 0) return [];
  return [
    'The ledger says that this is a self-service migration. If people have approved steps of this migration, someone has changed the ledger.',
  ];
}

function printVerified(
  output: Output,
  { entries, unverified, added, end, unprovenEnd, hasLedger }: Verification,
): void {
  const mark = output.styled('green', '✓');
  const whose = unverified === 0 ? '' : ' of the client';
  output.line(
    `${mark} ${counted(entries, 'entry')}: the signature of every applied decision${whose} matches the recorded decision`,
  );
  if (unverified > 0)
    output.line(
      `${output.styled('yellow', '!')} ferry did not verify ${counted(unverified, 'decision')} of support, because no key of support was given`,
    );
  for (const approver of added)
    output.line(
      `${output.styled('yellow', '!')} support added ${approver.by} (${approver.role}); ask ${approver.by} for the fingerprint of the key, and compare it with: ${approverFingerprint(approver)}`,
    );
  if (hasLedger)
    output.line(
      `${mark} in the ledger, every confirmation and every permission to move companies comes from ${unverified === 0 ? 'a signed decision' : 'a decision in the trail'}`,
    );
  if (end && unprovenEnd === null) {
    const by = `${end.exportedBy} exported and signed the trail on ${localTime(end.exportedAt)}`;
    output.line(`${mark} ${by}: nothing has been changed, added or removed since then`);
    return;
  }
  output.line(
    `The export ${unprovenEnd} refused decisions, times and outcomes could have been changed, and entries could have been removed.`,
  );
}

function adviceToExport(migrationId: string): string {
  return `export the trail again with: ferry audit ${migrationId} --format jsonl > trail.jsonl`;
}

interface TrailLine {
  readonly line: number;
  readonly text: string;
  readonly value: unknown;
}

async function* readLines(file: string, migrationId: string): AsyncGenerator<TrailLine> {
  let line = 0;
  try {
    for await (const text of createInterface({ input: createReadStream(file), crlfDelay: Infinity })) {
      line += 1;
      if (text.trim() !== '') yield { line, text, value: JSON.parse(text) as unknown };
    }
  } catch (error) {
    if (error instanceof SyntaxError)
      throw new CommandFailed(
        `${file} is not an audit trail in the format jsonl: line ${line} is not JSON`,
        adviceToExport(migrationId),
      );
    throw unreadableFile(file, error, 'check the path and your permissions');
  }
}
