/** The handover report: a worker writes it on request, and the page offers it as a link. */
import { isEnding } from '../../domain/migration/migration-state';
import { reportName, type ReportFormat } from '../contract/file-names';
import { submit } from './app';
import { FormProblem, problemText } from './elements/dialog';
import { button, buttonRow, byId, el, type Child } from './elements/elements';

const FORMATS: readonly { readonly format: ReportFormat; readonly label: string }[] = [
  { format: 'html', label: 'Report' },
  { format: 'csv', label: 'All companies as CSV' },
  { format: 'json', label: 'Report as JSON' },
  { format: 'markdown', label: 'Report as text' },
];

export function reportSection(migrationId: string): readonly Child[] {
  const status = el('p', { class: 'hint', role: 'status' });
  const links = el('p', { class: 'links' });

  async function create({ format, label }: (typeof FORMATS)[number], creating: HTMLButtonElement) {
    creating.disabled = true;
    status.textContent = 'The report is being written…';
    links.replaceChildren();
    try {
      const { id, outcome, text } = await submit('/api/reports', { format }, (line) => (status.textContent = line));
      if (outcome !== 'done') throw new FormProblem(text);
      const name = reportName(migrationId, format);
      const href = `/api/reports/${id}?format=${format}`;
      status.textContent = `${label}: ready.`;
      links.append(
        ...(format === 'html'
          ? [el('a', { href: `${href}&open=true`, target: '_blank', rel: 'noopener' }, 'Open the report'), ' ']
          : []),
        el('a', { href, download: name }, `Download ${name}`),
      );
    } catch (error) {
      status.textContent = problemText(error);
    }
    creating.disabled = false;
  }

  return [
    el('h2', { id: 'report-title' }, 'Handover report'),
    el('p', { id: 'report-about' }),
    buttonRow(
      ...FORMATS.map((each) => {
        const creating: HTMLButtonElement = button(each.label, () => void create(each, creating), { class: 'small' });
        return creating;
      }),
    ),
    status,
    links,
  ];
}

/**
 * Returns a button that shows the report's section and creates the report there, for the task after the end; null while
 * the migration is open.
 */
export function reportButton(state: string): Child {
  if (!isEnding(state)) return null;
  const show = (): void => {
    const section = byId('report');
    section.scrollIntoView();
    const creating = section.querySelector('button');
    creating?.focus({ preventScroll: true });
    creating?.click();
  };
  return buttonRow(button('Create the handover report', show, { class: 'primary' }));
}

/** Describes the report. A report that was created after the end is complete, so it need not be created again. */
export function reportAbout(hasEnded: boolean): string {
  const content = 'who decided what, and the result of each company';
  return hasEnded
    ? `The report shows everything about this migration: ${content}. Keep it for your records.`
    : `The report shows everything about this migration up to now: ${content}. Once the migration has ended, create the report again and keep it for your records.`;
}
