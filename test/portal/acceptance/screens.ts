/** Checks each screen of the portal's page that a person goes through, in the light and the dark color scheme. */
import { mkdirSync } from 'node:fs';
import path from 'node:path';
import type { Page } from 'playwright-core';
import { axeViolations } from '../page/browser-page';

const SCHEMES = ['light', 'dark'] as const;
/** A folder for pictures and PDFs of all screens. Default: none are saved. */
const FOLDER = process.env['TOKENFERRY_SCREENS'];

export interface Screens {
  /** All problems so far: violations that axe has found, screens that scroll sideways, and controls out of reach. */
  readonly problems: readonly unknown[];
  /** Checks the page in its current state. */
  check(name: string): Promise<void>;
}

/**
 * Returns the checks for a page.
 *
 * @param prefix the beginning of the pictures' names, for example the width
 */
export function checkScreens(page: Page, prefix: string): Screens {
  const problems: unknown[] = [];
  let count = 0;
  return {
    problems,
    check: async (name) => {
      count += 1;
      const screen = `${prefix}-${String(count).padStart(2, '0')}-${name}`;
      for (const colorScheme of SCHEMES) {
        await page.emulateMedia({ colorScheme });
        // The schemes differ only in their colors.
        const violations = await axeViolations(page, colorScheme === 'dark' ? ['color-contrast'] : undefined);
        if (violations.length > 0) problems.push([screen, colorScheme, ...violations]);
        await takePicture(page, `${screen}-${colorScheme}`);
      }
      const overflow = await page.evaluate('document.documentElement.scrollWidth - innerWidth');
      if (overflow !== 0) problems.push([screen, `scrolls sideways by ${String(overflow)} pixels`]);
      const outside = await page.evaluate(CONTROLS_OUTSIDE_OF_DIALOG);
      if (outside !== 0) problems.push([screen, 'controls outside of the dialog, which does not scroll']);
      if (FOLDER !== undefined) await page.pdf({ path: path.join(FOLDER, `${screen}.pdf`), format: 'A4' });
      await page.emulateMedia({ colorScheme: 'light' });
    },
  };
}

/**
 * A script that counts the controls of the open dialog that a person cannot reach; 1 if the top or the bottom of the
 * dialog is off the screen.
 */
const CONTROLS_OUTSIDE_OF_DIALOG = `(() => {
  const dialog = document.querySelector('dialog');
  if (dialog === null) return 0;
  const { top, bottom } = dialog.getBoundingClientRect();
  if (top < 0 || bottom > innerHeight) return 1;
  return [...dialog.querySelectorAll('button, input, select, textarea')].filter((each) => {
    const box = each.getBoundingClientRect();
    return box.bottom + dialog.scrollTop > dialog.scrollHeight + top;
  }).length;
})()`;

async function takePicture(page: Page, name: string): Promise<void> {
  if (FOLDER === undefined) return;
  mkdirSync(FOLDER, { recursive: true });
  const hasDialog = (await page.getByRole('dialog').count()) > 0;
  await page.screenshot({ path: path.join(FOLDER, `${name}.png`), fullPage: !hasDialog });
}
