/** Finds and starts Chromium for tests, and saves screenshots for the documentation. */
import { existsSync, mkdirSync } from 'node:fs';
import path from 'node:path';
import { chromium, type Browser, type Page } from 'playwright-core';

/** The headless shell comes first, because it needs a quarter less CPU time than full Chromium in headless mode. */
const INSTALLED = ['chromium-headless-shell', 'chromium', 'chromium-browser', 'google-chrome'].map(
  (name) => `/usr/bin/${name}`,
);

/** Returns the path of Chromium from TOKENFERRY_CHROMIUM or of an installed Chromium; undefined if there is none. */
export function findChromium(): string | undefined {
  return [process.env['TOKENFERRY_CHROMIUM'] ?? '', ...INSTALLED].find((file) => existsSync(file));
}

export async function openBrowser(executablePath: string): Promise<Browser> {
  return chromium.launch({
    executablePath,
    args: [
      ...['--no-sandbox', '--disable-gpu', '--disable-background-networking'],
      // Tests open each page only once, so Chromium's spare processes for later pages would only cost CPU time.
      ...['--disable-features=SpareRendererForSitePerProcess', '--disable-site-isolation-trials'],
    ],
  });
}

const PICTURES = path.join(__dirname, '../../../docs/images');

/** Saves a screenshot for the documentation if TOKENFERRY_KEEP_PICTURES is set. */
export async function keepPicture(page: Page, name: string): Promise<void> {
  if (!process.env['TOKENFERRY_KEEP_PICTURES']) return;
  mkdirSync(PICTURES, { recursive: true });
  await page.screenshot({ path: path.join(PICTURES, `${name}.png`) });
}
