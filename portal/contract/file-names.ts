/**
 * The names under which people store what they download. Each name begins with the migration, because a person can have
 * several migrations. A migration's id contains only lower-case letters, digits, hyphens and dots.
 */
import type { REPORT_FORMATS } from './requests';

export type ReportFormat = (typeof REPORT_FORMATS)[number];

const ENDINGS: Readonly<Record<ReportFormat, string>> = { html: 'html', csv: 'csv', json: 'json', markdown: 'md' };

/** Returns the name of a handover report. */
export const reportName = (migrationId: string, format: ReportFormat): string =>
  `${migrationId}-handover.${ENDINGS[format]}`;

/** Returns the name of the file with all reconnect links. */
export const reconnectLinksName = (migrationId: string): string => `${migrationId}-reconnect-links.csv`;
