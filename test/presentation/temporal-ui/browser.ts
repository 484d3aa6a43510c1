/** A real Chromium that looks at Temporal's Web UI as a person does. */
import { existsSync, mkdirSync } from 'node:fs';
import path from 'node:path';
import type { Browser, Page } from 'playwright-core';
import { chromium } from 'playwright-core';

const INSTALLED = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'];

/** The system's own Chromium, or the one that a variable names; undefined: there is none. */
export function findChromium(): string | undefined {
  return [process.env['TOKENFERRY_CHROMIUM'] ?? '', ...INSTALLED].find((file) => existsSync(file));
}

export async function openBrowser(executablePath: string): Promise<Browser> {
  return chromium.launch({
    executablePath,
    args: ['--no-sandbox', '--disable-gpu', '--disable-background-networking'],
  });
}

/** Where the README's pictures are. */
const PICTURES = path.join(__dirname, '../../../docs/images');

/** Keeps a picture of what is visible for the documentation, when it is asked for. */
export async function keepPicture(page: Page, name: string): Promise<void> {
  if (!process.env['TOKENFERRY_KEEP_PICTURES']) return;
  mkdirSync(PICTURES, { recursive: true });
  await page.screenshot({ path: path.join(PICTURES, `${name}.png`) });
}
