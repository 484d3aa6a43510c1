/** A point of the handover report, and the points that tell the client what it may switch back on. */
import { AFTER_THE_END } from '../wording/client-page';
import { reportStage, type ReportHead } from './report-facts';

/** A sentence with its topic and the number of companies it applies to: `Not yet (23): companies that ...` */
export interface Point {
  readonly topic: string;
  readonly companies?: number;
  readonly text: string;
  /** The id of the section of the HTML page that contains the details. */
  readonly section?: string;
}

/** Returns which companies the client may switch back on, with their number where it is known. */
export function switchOnPoints(head: ReportHead): readonly Point[] {
  const { counts, figures, ending } = head;
  const { crossed, crossingUnknown, movable, mustReconnectNotCrossed, leftOutUnauthorized } = figures;
  const notHandedOver = counts.total - crossed - crossingUnknown - mustReconnectNotCrossed - leftOutUnauthorized;
  const never = {
    topic: 'Never',
    companies: crossed,
    text: `${AFTER_THE_END.never}. If two applications use the same token, both can lose access.`,
  };
  if (reportStage(head) === 'terminated')
    // HTML leaves out the point "Never" if it applies to no company.
    return [
      never,
      {
        topic: 'Ask first',
        companies: counts.total - crossed,
        text: `all ${crossed > 0 ? 'other ' : ''}companies, because the migration was stopped. Before you switch any syncing back on, ask the contact under "Who to call".`,
      },
    ];
  return [
    never,
    {
      topic: 'Ask first',
      companies: crossingUnknown,
      text: `${AFTER_THE_END.askFirst}. Call the contact under "Who to call".`,
    },
    ...(ending === null
      ? [
          {
            topic: 'Not yet',
            companies: movable,
            text: 'companies that can still be moved.',
          },
          {
            topic: 'Yes',
            text: 'companies that were left out, unless the tables below say otherwise for a company.',
          },
        ]
      : [
          {
            topic: 'Yes',
            companies: notHandedOver,
            text: `${AFTER_THE_END.yes}. You may use them in your own application, unless the tables below say otherwise for a company.`,
          },
          ...(mustReconnectNotCrossed === 0
            ? []
            : [
                {
                  topic: 'Until it reconnects',
                  companies: mustReconnectNotCrossed,
                  text: 'companies that must reconnect. Their access was not handed over to us, so you may use each in your own application until its end customer reconnects with the link.',
                },
              ]),
          ...(leftOutUnauthorized === 0
            ? []
            : [
                {
                  topic: 'After a new authorization',
                  companies: leftOutUnauthorized,
                  text: 'companies that had to reconnect but were left out, and whose access was not handed over to us. After the end customer of such a company has authorized your own application again, you may use the company there.',
                },
              ]),
        ]),
  ];
}
