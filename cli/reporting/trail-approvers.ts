/**
 * The approvers whose signatures in a trail are verified. People know a key by its fingerprint; the key itself is in
 * the trail.
 */
import { approverFingerprint, isPublicKey, type Approver } from '../../domain/migration/approvers';
import { roleText, type Role } from '../../domain/migration/steps';
import { shellQuoted } from '../../domain/text/shell-quoted';

/** An approver as named on the command line: with the key, or with its fingerprint. */
export type NamedApprover = Approver | (Omit<Approver, 'publicKey'> & { readonly fingerprint: string });

/**
 * Collects the keys of a trail, to find the key of an approver who is named with a fingerprint. A key in the trail
 * proves nothing. A fingerprint is enough, because no other key with the same fingerprint can be created.
 */
export function createKeyFinder() {
  const keys = new Map<string, string>();
  const add = (publicKey: unknown): void => {
    if (isPublicKey(publicKey)) keys.set(approverFingerprint({ publicKey }), publicKey);
  };
  return {
    /** Adds the keys in a line of the trail: the key that signed the line, and the key of an added approver. */
    addFrom(line: unknown): void {
      const { decision, signed, signature } = (line ?? {}) as {
        readonly decision?: { readonly approver?: { readonly publicKey?: unknown } } | null;
        readonly signed?: { readonly signature?: { readonly publicKey?: unknown } | null } | null;
        readonly signature?: { readonly publicKey?: unknown } | null;
      };
      add(decision?.approver?.publicKey);
      add(signed?.signature?.publicKey);
      add(signature?.publicKey);
    },
    /** Returns the approver with the key. A key that is not in the trail has signed nothing in it. */
    find(named: NamedApprover): { readonly approver: Approver; readonly isInTrail: boolean } {
      if ('publicKey' in named) return { approver: named, isInTrail: keys.has(approverFingerprint(named)) };
      const { role, by, fingerprint } = named;
      const publicKey = keys.get(fingerprint);
      // The fingerprint takes the place of the unknown key. No signature has it as its key, so no line is accepted as
      // signed by this approver.
      return { approver: { role, by, publicKey: publicKey ?? fingerprint }, isInTrail: publicKey !== undefined };
    },
  };
}

/** Returns the command that verifies what these approvers have signed. */
export function verificationCommand(migrationId: string, approvers: readonly NamedApprover[], file = TRAIL): string {
  const named = approvers.map((each) => {
    const fingerprint = 'fingerprint' in each ? each.fingerprint : approverFingerprint(each);
    return shellQuoted(`${each.role}:${each.by}:${fingerprint}`);
  });
  return [
    `ferry audit ${migrationId} --verify ${shellQuoted(file)}`,
    ...new Set(named.map((each) => `--approver ${each}`)),
  ].join(' ');
}

/** Returns the commands that export a trail and verify what these approvers have signed. */
export function verificationCommands(
  migrationId: string,
  approvers: readonly Approver[],
): readonly [exporting: string, verifying: string] {
  return [`ferry audit ${migrationId} --format jsonl > ${TRAIL}`, verificationCommand(migrationId, approvers)];
}

/** Says how to verify decisions whose keys were not passed. A key in the trail proves nothing until it is compared. */
export function adviceAboutKeys(missing: readonly Approver[]): string {
  const people = new Intl.ListFormat('en').format(new Set(missing.map(({ by }) => by)));
  const [keys, theirs, compared] =
    missing.length === 1
      ? ['the key', 'the fingerprint of their key', 'it with the fingerprint']
      : ['the keys', 'the fingerprints of their keys', 'them with the fingerprints'];
  return `ferry did not compare the ledger with the signed decisions, because ${keys} of ${people} ${missing.length === 1 ? 'was' : 'were'} not passed. Ask ${people} for ${theirs}, and compare ${compared} in the command below. If they are the same, run:`;
}

/**
 * Says whose fingerprints are missing. The command below the text contains placeholders for them. It contains keys from
 * the trail only if support has added them, because a key in the trail proves nothing.
 */
export function adviceAboutPeople(
  unknown: readonly Omit<Approver, 'publicKey'>[],
  notGiven: readonly Approver[],
): string {
  const list = new Intl.ListFormat('en');
  const people = list.format(unknown.map(({ by, role }) => `${by} (${role})`));
  const others = new Set([...notGiven, ...unknown].map(({ by }) => by));
  return `ferry did not compare the ledger with the signed decisions, because decisions in the name of ${people} are signed with keys that you did not pass. Ask ${list.format(others)} for the fingerprints of all keys with which they have signed, put them into the command below, and run it:`;
}

/** Says what the verification reports if a role had no key at the start, even if nobody has changed the trail. */
export function unsignedDecisionsText(role: Role): string {
  return `If ${roleText(role)} made decisions before its first key was added, they are not signed: the verification explains this, marks each of them with ✗ and ends with exit code 1.`;
}

const TRAIL = 'trail.jsonl';
