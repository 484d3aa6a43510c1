/** Checks the invariants `one-company`, `one-connection` and `one-use`: nothing exists twice. */
import type { Findings, Violation } from './evidence';
import { groupBy, type RowFacts, type Send } from './facts';

/** The sandbox's answer to the second use of a refresh token: docs/sandbox.md. */
const ALREADY_USED = 'already been used';

export function checkUniqueness(rows: readonly RowFacts[]): Findings {
  const findings = [checkCompanies(rows), checkConnections(rows), checkUses(rows)];
  return {
    violations: findings.flatMap(({ violations }) => violations),
    checked: Object.assign({}, ...findings.map(({ checked }) => checked)) as Findings['checked'],
  };
}

function checkCompanies(rows: readonly RowFacts[]): Findings {
  const violations = rows.flatMap((facts): Violation[] => {
    if (facts.companies.length <= 1) return [];
    const ids = facts.companies.map(({ id }) => id).join(', ');
    return [{ ...keyOf(facts), invariant: 'one-company', detail: `the service has the companies ${ids}` }];
  });
  return { violations, checked: { 'one-company': rows.length } };
}

function checkConnections(rows: readonly RowFacts[]): Findings {
  const violations: Violation[] = [];
  for (const facts of rows) {
    for (const company of facts.companies) {
      const ofPlatform = company.connections.filter(({ platformKey }) => platformKey === facts.row.platformKey);
      if (ofPlatform.length <= 1 || facts.row.existedBefore) continue;
      const ids = ofPlatform.map(({ id, status }) => `${id} (${status})`).join(', ');
      violations.push({ ...keyOf(facts), invariant: 'one-connection', detail: `company ${company.id} has ${ids}` });
    }
  }
  const linked = rows.flatMap((facts) =>
    facts.connections
      .filter(({ status, organizationId }) => status === 'Linked' && organizationId !== null)
      .map((connection) => ({ facts, connection })),
  );
  const byOrganization = groupBy(linked, ({ connection: c }) => `${c.platformKey}/${c.organizationId}`);
  for (const [organization, group] of byOrganization) {
    const companies = new Set(group.map(({ connection }) => connection.companyId));
    const [first] = group;
    if (companies.size <= 1 || first === undefined) continue;
    const detail = `organization ${organization} is linked to the companies ${[...companies].join(', ')}`;
    violations.push({ ...keyOf(first.facts), invariant: 'one-connection', detail });
  }
  return { violations, checked: { 'one-connection': rows.length } };
}

/**
 * Checks that no token was used for two connections. A token counts as used for a connection if it was sent there and
 * the connection holds an authorization. If a restored service no longer has the connection, the status in the log of
 * requests decides. If the service has used a token and the platform then refused it as already used, that is a second
 * use, too.
 */
function checkUses(rows: readonly RowFacts[]): Findings {
  const violations: Violation[] = [];
  let tokens = 0;
  for (const facts of rows) {
    for (const { sha256, bodySha256 } of facts.tokens) {
      tokens += 1;
      const sends = facts.sends.filter(({ body }) => body === bodySha256);
      const accepted = [...new Set(sends.filter((each) => isAccepted(facts, each)).map((each) => each.connectionId))];
      const detail =
        accepted.length > 1
          ? `its token was accepted for the connections ${accepted.join(', ')}`
          : refusedSecondUse(facts, sha256, sends);
      if (detail !== null) violations.push({ ...keyOf(facts), invariant: 'one-use', detail });
    }
  }
  return { violations: [...violations, ...sharedBodies(rows)], checked: { 'one-use': tokens } };
}

function isAccepted({ connections }: RowFacts, { connectionId, forwarded, status }: Send): boolean {
  if (!forwarded) return false;
  const connection = connections.find(({ id }) => id === connectionId);
  return connection === undefined ? status === 200 : connection.acceptedDigest !== null;
}

function refusedSecondUse(facts: RowFacts, sha256: string, sends: readonly Send[]): string | null {
  const isUsed = facts.platformTokens.some((token) => token.sha256 === sha256 && token.usedByService);
  if (!isUsed) return null;
  // If the row has only one token, the refusal is about this token, even if it was sent in another body.
  const isOnly = facts.tokens.length === 1;
  const refusing = facts.connections.find(
    ({ id, errors }) =>
      (isOnly || sends.some(({ connectionId }) => connectionId === id)) &&
      errors.some(
        ({ statusText, errorMessage }) => statusText === 'GrantRefused' && errorMessage.includes(ALREADY_USED),
      ),
  );
  return refusing ? `its token was used, and then refused for connection ${refusing.id} because of that` : null;
}

/** Finds two connections that hold the same authorization. This needs no log of requests. */
function sharedBodies(rows: readonly RowFacts[]): readonly Violation[] {
  const held = rows.flatMap((facts) => facts.connections.map((connection) => ({ facts, connection })));
  const byBody = groupBy(held, ({ connection }) => connection.acceptedDigest ?? '');
  return [...byBody].flatMap(([digest, group]): Violation[] => {
    const ids = new Set(group.map(({ connection }) => connection.id));
    const [first] = group;
    if (digest === '' || ids.size <= 1 || first === undefined) return [];
    return [
      {
        ...keyOf(first.facts),
        invariant: 'one-use',
        detail: `the connections ${[...ids].join(', ')} hold the same authorization`,
      },
    ];
  });
}

function keyOf({ row: { migration, reference } }: RowFacts): {
  readonly migration: string;
  readonly reference: string;
} {
  return { migration, reference };
}
