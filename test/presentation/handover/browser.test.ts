/** Opens the HTML report as a client does: from a file, on screens of several sizes, and on paper. */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { constants, inflateSync } from 'node:zlib';
import type { Browser, Page } from 'playwright-core';
import { findChromium, openBrowser } from '../temporal-ui/browser';
import { sampleReport, withLongWords, writeSamplePage } from './sample-report';

interface Layout {
  readonly scrollWidth: number;
  /** The texts that are too wide for their boxes, so that they overlap neighbouring texts. */
  readonly tooWide: readonly string[];
  /** The texts in charts, with their size on the screen in pixels. */
  readonly texts: readonly { text: string; size: number; isCut: boolean; touches: readonly string[] }[];
}

/** A script for the page, which returns its layout. */
const LAYOUT = `({
  scrollWidth: document.documentElement.scrollWidth,
  tooWide: [...document.querySelectorAll('td, th, p, li, dd')]
    .filter((each) => each.clientWidth > 1 && each.scrollWidth > each.clientWidth + 1)
    .map((each) => each.textContent),
  texts: [...document.querySelectorAll('svg')].flatMap((svg) => {
    const all = [...svg.querySelectorAll('text')].filter((each) => each.getBoundingClientRect().width > 0);
    const frame = svg.getBoundingClientRect();
    return all.map((text) => {
      const box = text.getBoundingClientRect();
      const touches = all.filter((other) => {
        const { left, right, top, bottom } = other.getBoundingClientRect();
        return other !== text && left < box.right && box.left < right && top + 2 < box.bottom && box.top + 2 < bottom;
      });
      return {
        text: text.textContent,
        size: (parseFloat(getComputedStyle(text).fontSize) * frame.width) / svg.viewBox.baseVal.width,
        isCut: box.left < frame.left - 1 || box.right > frame.right + 1,
        touches: touches.map((other) => other.textContent),
      };
    });
  }),
})`;

/** Counts the pages of a PDF that are drawn with a colour. Chromium writes the content of each page as one stream. */
function pagesWithColour(pdf: Buffer, colour: string): number {
  const text = pdf.toString('latin1');
  return [...text.matchAll(/FlateDecode[^]{0,200}?stream\r?\n/g)].filter((head) => {
    const start = head.index + head[0].length;
    const content = inflateSync(pdf.subarray(start, text.indexOf('endstream', start)), {
      finishFlush: constants.Z_SYNC_FLUSH,
    });
    return content.toString('latin1').includes(`${colour} rg`);
  }).length;
}

const chromium = findChromium();
const describeWithChromium = chromium === undefined ? describe.skip : describe;

describeWithChromium('the HTML report in a browser', () => {
  let browser: Browser;
  let folder: string;
  beforeAll(async () => {
    folder = mkdtempSync(path.join(os.tmpdir(), 'tokenferry-report-'));
    browser = await openBrowser(chromium ?? '');
    await writeSamplePage(path.join(folder, '60.html'), sampleReport(60));
    await writeSamplePage(path.join(folder, 'long.html'), withLongWords(sampleReport(60)));
    await writeSamplePage(path.join(folder, '2000.html'), sampleReport(2_000));
  });
  afterAll(async () => {
    await browser.close();
    rmSync(folder, { recursive: true, force: true });
  });

  async function openReport(
    companies: 60 | 2000 | 'long',
    width = 1440,
    colorScheme: 'light' | 'dark' = 'light',
  ): Promise<Page> {
    const page = await browser.newPage({ viewport: { width, height: 900 }, colorScheme });
    const errors: string[] = [];
    page.on('console', (message) => message.type() === 'error' && errors.push(message.text()));
    await page.goto(pathToFileURL(path.join(folder, `${companies}.html`)).href);
    expect(errors).toEqual([]);
    return page;
  }

  test.each([1440, 1024, 768, 390, 320])(
    'fits a screen that is %d pixels wide, with readable charts',
    async (width) => {
      const page = await openReport(60, width);
      const { scrollWidth, tooWide, texts } = await page.evaluate<Layout>(LAYOUT);
      expect(scrollWidth).toBe(width);
      expect(tooWide).toEqual([]);
      expect(texts.length).toBeGreaterThan(20);
      expect(texts.filter(({ size, isCut, touches }) => size < 11 || isCut || touches.length > 0)).toEqual([]);
      await page.close();
    },
  );

  test.each([1440, 1024, 390])('breaks long words on a screen that is %d pixels wide', async (width) => {
    const page = await openReport('long', width);
    const { scrollWidth, tooWide } = await page.evaluate<Layout>(LAYOUT);
    expect(scrollWidth).toBe(width);
    expect(tooWide).toEqual([]);
    await page.close();
  });

  test('shows each company as a card with labels on a phone', async () => {
    const page = await openReport(60, 390);
    const card = `document.querySelector('#must-reconnect tbody tr')`;
    expect(await page.evaluate(`getComputedStyle(${card}).display`)).toBe('block');
    expect(await page.evaluate(`getComputedStyle(${card}.cells[2], '::before').content`)).toContain('Why');
    await page.close();
  });

  test.each([
    [1440, 'light'],
    [1440, 'dark'],
    [1024, 'light'],
    [390, 'light'],
    [390, 'dark'],
  ] as const)('has no axe violation at %d pixels, %s', async (width, colorScheme) => {
    const page = await openReport(60, width, colorScheme);
    // The content security policy of the page forbids other scripts, so the debugger runs axe.
    await page.evaluate(readFileSync(require.resolve('axe-core/axe.min.js'), 'utf8'));
    const violations = await page.evaluate(async () => {
      const { axe } = globalThis as unknown as {
        axe: { run(): Promise<{ violations: { id: string; nodes: { html: string }[] }[] }> };
      };
      const result = await axe.run();
      return result.violations.map(({ id, nodes }) => [id, ...nodes.map(({ html }) => html)]);
    });
    expect(violations).toEqual([]);
    await page.close();
  });

  test('prints 2,000 companies on at most 60 A4 pages, with the head of the table on each', async () => {
    const page = await openReport(2000);
    // Marks the head of the table with a colour that nothing else has. The content security policy does not stop a
    // test's script from changing the style sheet.
    await page.evaluate(`document.styleSheets[0].insertRule(
      '#moved thead th:first-child { background: rgb(255, 0, 51); print-color-adjust: exact; }',
      document.styleSheets[0].cssRules.length,
    )`);
    const pdf = await page.pdf({ preferCSSPageSize: true });
    const pages = pdf.toString('latin1').match(/\/Type\s*\/Page\b/g)?.length ?? 0;
    expect(pages).toBeGreaterThan(20);
    expect(pages).toBeLessThanOrEqual(60);
    // About 60 of the 1,800 rows fit on a page.
    expect(pagesWithColour(pdf, '1 0 .2')).toBeGreaterThan(25);
    expect(await page.locator('#moved tbody tr').count()).toBe(1_800);
    await page.close();
  });

  test('finds a company by its name or reference without a network', async () => {
    const page = await openReport(2000, 1024);
    await page.context().setOffline(true);
    await page.getByLabel('Find a company').fill('müller 0022');
    await page.getByText('1 company found').waitFor();
    expect(await page.locator('table.companies tbody tr:visible').allTextContents()).toEqual([
      expect.stringContaining('K-0022'),
    ]);
    expect(await page.locator('section.companies:visible').count()).toBe(1);
    // K-0025 was left out, and its unused company at the service is in another section.
    await page.getByLabel('Find a company').fill('k-0025');
    await page.locator('#unused').getByText('K-0025').waitFor();
    await page.getByText('1 company found').waitFor();
    expect(await page.locator('table.companies tbody tr:visible').count()).toBe(2);
    await page.getByLabel('Find a company').press('Escape');
    expect(await page.locator('section.companies:visible').count()).toBe(5);
    await page.close();
  });

  test('has a link to each of its sections', async () => {
    const page = await openReport(60);
    const targets = await page.evaluate<readonly (readonly [string, boolean])[]>(
      `[...document.links].filter((each) => each.hash).map((each) => [each.textContent, document.querySelector(each.hash) !== null])`,
    );
    expect(targets).toContainEqual(['Moved (53)', true]);
    expect(targets.filter(([, exists]) => !exists)).toEqual([]);
    await page.close();
  });
});
