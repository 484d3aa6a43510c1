/** Names the companies that were not moved, with the reasons, before a person signs off. */
import { notMovedTitle, readNotMoved } from '../../client/not-moved';
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

export async function notMovedList({ counts }: Pick<MigrationView, 'counts'>): Promise<readonly Child[]> {
  try {
    const { companies, more } = await readNotMoved(eachCompany, counts, MOST);
    if (companies.length === 0) return [];
    return [
      el('h3', { id: 'not-moved-title' }, notMovedTitle(companies.length + more, counts)),
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
