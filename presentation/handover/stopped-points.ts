/** The points of the handover report about a migration that was terminated in Temporal and is not closed yet. */
import { countOpen } from '../../domain/companies/counts';
import type { ReportHead } from './report-facts';

/**
 * Returns the text of the point "Ask first". The client must ask about every company whose grant the service has not
 * received, because support decides what happens to the company.
 *
 * @param crossed number of companies under the point "Never", which HTML leaves out if it applies to no company
 */
export function askFirstAfterStop(crossed: number): string {
  return `all ${crossed > 0 ? 'other ' : ''}companies, because the migration was stopped. Before you switch any syncing back on, ask the contact under "Who to call".`;
}

type StoppedPoint = Readonly<Record<'topic' | 'text' | 'section', string>> & { readonly companies?: number };

/**
 * Says that the client has to ask its contact, because no company moves until support has decided what happens next.
 */
export function askContact({ counts }: Pick<ReportHead, 'counts'>): StoppedPoint {
  const open = countOpen(counts);
  return {
    topic: 'Ask the contact under "Who to call" what happens next',
    text: 'the migration was stopped, so no company moves. Until you know what happens next, do not switch any syncing back on.',
    ...(open > 0 ? { companies: open, section: 'not-finished' } : { section: 'statistics' }),
  };
}
