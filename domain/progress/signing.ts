/** Describes in words whose decisions must be signed. */
import type { SigningRules } from '../migration/approvers';
import { roleText, ROLES } from '../migration/steps';

/** Returns whose decisions must be signed, and who can sign them; null if no decision must be signed. */
export function signingText({ mustSign, approvers }: SigningRules): string | null {
  const [role] = mustSign;
  if (role === undefined) return null;
  const people = (of: string): readonly string[] => [
    ...new Set(approvers.flatMap((each) => (each.role === of ? [`${each.by} (${of})`] : []))),
  ];
  const missing = ROLES.filter((each) => mustSign.includes(each) && people(each).length === 0);
  const whose = mustSign.length === ROLES.length ? 'Decisions' : `Decisions of ${roleText(role)}`;
  return [
    `${whose} must be signed by ${ROLES.flatMap(people).join(' or ')}`,
    ...missing.map((each) => `no approver for ${roleText(each)} has been added yet`),
  ].join('; ');
}
