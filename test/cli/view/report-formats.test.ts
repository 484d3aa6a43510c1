/** Tests the formats of the handover report with hostile texts and with any number of companies. */
import { createHash } from 'node:crypto';
import { Writable } from 'node:stream';
import type { HandoverReport } from '../../../client';
import { companyJson, REPORT_FORMATS } from '../../../client/report-formats';
import { Output } from '../../../cli/terminal/output';
import type { ReportHead } from '../../../presentation/handover/report-facts';
import type { LedgerCompany } from '../../../store';
import { PAGE_SCRIPT } from '../../../presentation/handover/search';
import { ferry } from '../captured-terminal';
import { sampleReport } from '../../presentation/handover/sample-report';
import { COMPANY, COMPANIES, reportOf, renderReport, writeReport, MUST_RECONNECT, STATISTICS } from './hostile-report';

describe('the HTML report', () => {
  test('escapes all text that people wrote', async () => {
    const search = `<script>${PAGE_SCRIPT}</script>`;
    const withSearch = await renderReport('html');
    expect(withSearch.split(search)).toHaveLength(2);
    const page = withSearch.replace(search, '');
    expect(page).toContain('&lt;script&gt;alert(1)&lt;/script&gt;');
    expect(page).not.toContain('\u202e');
    const tags = new Set([...page.matchAll(/<([a-z!][a-z0-9]*)/g)].map(([, tag]) => tag));
    for (const tag of ['script', 'img', 'iframe', 'object', 'base', 'form']) expect(tags).not.toContain(tag);
    // The text of a client must not become an attribute of a tag.
    for (const [tag] of page.matchAll(/<[a-z][^>]*>/g)) {
      expect(tag.replace(/"[^"]*"/g, '""')).not.toMatch(/\s(on[a-z]+|style|src|srcset)\s*=|alert|[']/);
    }
  });

  test('has a content security policy that allows only its own style and its search', async () => {
    const page = await renderReport('html');
    const [, style = ''] = /<style>([^]*?)<\/style>/.exec(page) ?? [];
    const [, script = ''] = /<script>([^]*?)<\/script>/.exec(page) ?? [];
    const hash = (text: string) => `&#39;sha256-${createHash('sha256').update(text).digest('base64')}&#39;`;
    expect(page).toContain(`default-src &#39;none&#39;; style-src ${hash(style)}; script-src ${hash(script)};`);
    expect(script).not.toMatch(/https?:|fetch|innerHTML|eval|import/);
    expect(style).not.toMatch(/url\(|@import/);
  });

  test('shows what to do, what can be switched back on, how long data was out of date, and who to call', async () => {
    const page = await renderReport('html');
    // The outcome comes first, then what to do, the timing and the contact.
    expect(page).toMatch(/id="result".*<h2>What you need .*<h2>How long .*<h2>Who to call<.*<nav .*id="statistics"/s);
    const answers = page.split('class="answers"')[1]?.split('</section>')[0] ?? '';
    expect(answers).toContain('<p class="contact">Sam ');
    expect(answers).toMatch(/<b>Never<\/b> \(2\).*<b>Yes<\/b> \(1\).*<b>Until it reconnects<\/b> \(1\)/s);
    expect(answers).toContain('Before that, it was out of date for at most 6.3 hours');
  });

  test.each([
    [
      null,
      'From the moment syncing is disabled for a company until it has been moved. For the companies that have moved so far: at most 6.3 hours',
    ],
    [
      'cancelled',
      'until you switch syncing back on in your own application, or until its end customer reconnects. The tables below say',
    ],
  ] as const)('explains how long data is out of date if the ending is %s: %s', async (ending, text) => {
    expect(await renderReport('html', reportOf(COMPANIES, { ending }))).toContain(text);
  });

  test('names the time zone once', async () => {
    const decision = { kind: 'time', decisionId: '2', role: 'support', by: 'Sam' } as const;
    const decisions = [
      {
        decision: { ...decision, startAt: '2026-12-07T22:00:00.000Z' },
        outcome: { decisionId: '2', applied: true, text: '', at: '2026-11-20T22:01:00.000Z' },
      },
    ];
    const page = await renderReport('html', reportOf(COMPANIES, { decisions }));
    expect(page).toContain('propose to start at 7 Dec 22:00');
    expect(page.split('UTC')).toHaveLength(2);
  });

  test('uses no internal words', async () => {
    const page = await renderReport('html');
    for (const word of ['moved', 'must reconnect', 'not moved']) expect(page).toContain(word);
    expect(page).not.toMatch(/\b(ledger|slice|vault|crossing|crossed|digest|PendingAuth|importing|migrated)\b/i);
  });

  test('shows a link for reconnecting only if it is an http address', async () => {
    expect(await renderReport('html')).toContain('<a href="https://link.example/?a=1&amp;b=&quot;2&quot;"');
    const linkUrl = 'javascript:alert(1)';
    const page = await renderReport('html', reportOf([{ ...MUST_RECONNECT, linkUrl }]));
    expect(page).toContain('>javascript:alert(1)</td>');
    expect(page).not.toContain('href="javascript');
  });

  test('lists every company once, without ids', async () => {
    const page = await renderReport('html');
    for (const { reference } of COMPANIES) {
      expect(page.split(`<span class="reference">${reference}</span></th>`)).toHaveLength(2);
    }
    expect(page).not.toMatch(/>connection<|latest/);
  });

  test('draws progress, durations and failures', async () => {
    const page = await renderReport('html', sampleReport(60));
    for (const title of ['Progress over time', 'Duration per company', 'Failures by kind']) {
      expect(page).toContain(`<h3>${title}</h3>`);
    }
    // Four charts are drawn twice, for wide screens and for phones. The ninth drawing is the bar of outcomes.
    expect(page.match(/<svg /g)).toHaveLength(9);
    expect(page).not.toContain('NaN');
  });

  test('leaves out charts of few companies and of equal bars', async () => {
    expect((await renderReport('html')).match(/<svg /g)).toHaveLength(1);
    const slowest = STATISTICS.slowest.map((each) => ({ ...each, tookMs: 12_000 }));
    const failures = (['refused', 'incomplete'] as const).map((kind) => ({ kind, companies: 5 }));
    const equal = { ...STATISTICS, durations: [0, 30, 30], slowest, failures };
    const page = await renderReport('html', { ...reportOf([]), statistics: async () => equal });
    expect(page.match(/<svg /g)).toHaveLength(1);
    expect(page).not.toContain('<figure>');
  });

  test('draws no statistics charts without data', async () => {
    const noStatistics = {
      moved: [],
      durationBoundsMs: [],
      durations: [],
      medianMs: null,
      p95Ms: null,
      longestMs: null,
      slowest: [],
      failures: [],
    };
    const page = await renderReport('html', { ...reportOf([]), statistics: async () => noStatistics });
    expect(page.match(/<svg /g)).toHaveLength(1);
  });
});

test('CSV has one row per company, and formulas are escaped', async () => {
  const lines = (await renderReport('csv')).trimEnd().split('\n');
  // Excel reads a CSV file without a byte order mark as Windows-1252.
  expect(lines[0]).toMatch(/^\ufeffreference,name,stored name,organization,outcome,why,what to do,switch back on,/);
  expect(lines).toHaveLength(5);
  expect(lines.find((line) => line.startsWith('C-2,'))).toContain(`"'=HYPERLINK(""https://evil.example"")"`);
  expect(lines.find((line) => line.startsWith('C-3,'))).toContain(',must reconnect,');
  expect(lines.find((line) => line.startsWith('C-4,'))).toContain(',left out,');
});

test('CSV says what to do about a moved company whose application was replaced', async () => {
  const moved = (clientId: string, companies: number) => ({
    ...{ application: { clientId, environment: 'production' }, companies, references: [] },
  });
  const [old, current] = [moved('old-app', 5), moved('new-app', 5)];
  const actionAfter = async (applications: ReportHead['applications']): Promise<string | undefined> => {
    const report = { ...reportOf(COMPANIES, { applications }), replaced: async () => new Map([['C-1', old]]) };
    const lines = (await renderReport('csv', report)).split('\n');
    expect(lines.find((line) => line.startsWith('C-2,'))).not.toContain('old-app');
    return lines.find((line) => line.startsWith('C-1,'));
  };
  const registered = current.application;
  expect(await actionAfter({ moved: [old], replaced: [old], registered })).toContain(
    `,"keep your application old-app (production), and ask support to register it again, or let the company's end customer reconnect with the link (ask support for the link) instead",never`,
  );
  expect(await actionAfter({ moved: [old, current], replaced: [old], registered })).toContain(
    `,"let the company's end customer reconnect with the link (ask support for the link), and keep new-app (production) registered`,
  );
});

test.each(REPORT_FORMATS)('companies are read only as fast as %s is written', async (format) => {
  const report = reportOf([]);
  let read = 0;
  async function* endless(): AsyncGenerator<LedgerCompany> {
    for (;;) yield { ...COMPANY, reference: `C-${(read += 1)}` };
  }
  let writes = 0;
  await new Promise<void>((full) => {
    // Stops accepting output at the 200th write, so that the writer has to wait.
    const stdout = new Writable({
      highWaterMark: 1_000,
      write: (_piece, _encoding, done) => ((writes += 1) < 200 ? done() : full()),
    });
    const companies: HandoverReport['companies'] = (states) =>
      !states || states.includes('moved') ? endless() : report.companies(states);
    void writeReport(new Output({ stdout, stderr: stdout }, false), { ...report, companies }, format);
  });
  expect(read).toBeLessThanOrEqual(writes + 2);
});

test('JSON shows no next try without a credential, and after the end also no deferred company', () => {
  const now = new Date();
  const continued = { deferred: true, retryAt: now, relinkingSince: now };
  const company = { ...COMPANY, ...continued, state: 'waiting', confirmedAt: now, credential: 'supplied' } as const;
  expect(companyJson(company, false)).toMatchObject({ state: 'not-moved-yet', ...continued });
  expect(companyJson({ ...company, credential: 'missing' }, false)).toMatchObject({ deferred: true, retryAt: null });
  expect(companyJson(company, true)).toMatchObject({ deferred: false, retryAt: null, relinkingSince: null });
});

test('report rejects an unknown format', async () => {
  const { exitCode, err } = await ferry(['report', 'acme.quickbooks-online', '--format', 'pdf']);
  expect(exitCode).toBe(2);
  expect(err).toContain('Choose one of: md, json, csv, html');
});
