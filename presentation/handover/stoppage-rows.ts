/** The automatic pauses and the outages in the handover report, in words for the client. */
import { NO_COUNTS } from '../../domain/companies/counts';
import type { Stoppage } from '../../domain/migration/stoppage';
import { roughDuration, timeText } from '../../domain/text/sentences';
import { stopText } from '../wording/status-line';
import type { ReportHead } from './report-facts';
import { platformOf, viewOf } from './report-facts';

/** The heading, and the columns of each row. */
export const STOPPAGES = {
  title: 'When no company moved, although nobody had paused the migration',
  columns: ['From', 'Until', 'Why'],
} as const;

type StoppageHead = Pick<
  ReportHead,
  'route' | 'stoppages' | 'platformKey' | 'ending' | 'endedInTemporal' | 'suppliedAt'
>;

export function stoppageRows(head: StoppageHead): readonly (readonly [from: string, until: string, why: string])[] {
  const { year } = viewOf(head);
  return head.stoppages.map((each) => [
    timeText(each.beganAt, year),
    each.endedAt === null ? 'not over yet' : timeText(each.endedAt, year),
    whyText(each, platformOf(head)),
  ]);
}

function whyText({ kind, source, stop, beganAt, endedAt }: Stoppage, platform: string): string {
  if (kind === 'pause')
    return `The migration paused automatically${stop === null ? '' : `: ${stopText(stop, platform, NO_COUNTS)}`}`;
  // The duration is rough: the recorded beginning can be some seconds too early or too late, because calls are repeated
  // before an outage is recognised.
  const waited =
    endedAt === null ? 'Moves wait' : `Moves waited ${roughDuration(Date.parse(endedAt) - Date.parse(beganAt))}`;
  return `${waited}, because no call got through to ${source === 'platform' ? platform : 'the Company Data Service'}`;
}
