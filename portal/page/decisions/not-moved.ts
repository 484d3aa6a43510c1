/** Names the companies that were not moved, with the reasons, before a person signs off. */
import { counted } from '../../../domain/text/sentences';
import { readNotMoved } from '../../client/not-moved';
import type { MigrationView } from '../../contract/migration-view';
import { eachCompany } from '../app';
import { problemText } from '../elements/dialog';
import { el, type Child } from '../elements/elements';
import { inReadersZone } from '../elements/times';

/**
 * Maximum number of companies in the list. The list scrolls, but reading more companies from the portal would take too
 * long.
 */
const MOST = 100;

/** Uses the words of the three states, because the facts of the sign-off count each state separately. */
function titleOf(companies: number): string {
  const were = companies === 1 ? 'was' : 'were';
  return `${counted(companies, 'company')} that must reconnect, ${were} not moved or ${were} left out`;
}

export async function notMovedList({ counts }: Pick<MigrationView, 'counts'>): Promise<readonly Child[]> {
  try {
    const { companies, more } = await readNotMoved(eachCompany, counts, MOST);
    if (companies.length === 0) return [];
    return [
      el('h3', { id: 'not-moved-title' }, titleOf(companies.length + more)),
      el(
        'ul',
        { class: 'findings', tabindex: 0, 'aria-labelledby': 'not-moved-title' },
        ...companies.map(({ reference, name, why }) =>
          el('li', {}, el('strong', {}, name), ` (${reference}): ${inReadersZone(why)}`),
        ),
        more > 0 && el('li', {}, `and ${more.toLocaleString('en-US')} more, which the list of companies shows`),
      ),
    ];
  } catch (error) {
    return [el('p', { class: 'problem' }, `The companies that were not moved cannot be listed. ${problemText(error)}`)];
  }
}
