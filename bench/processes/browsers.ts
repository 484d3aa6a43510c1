/** Starts the browsers that watch a migration, in a process of their own. */
import { startProcessWith, type ChildProgram } from './child-process';
import type { Usage } from './usage';

export interface BrowsersSettings {
  readonly url: string;
  /** The tokens of invitations, one for each browser. */
  readonly invitations: readonly string[];
  /** The time between two loads of the page in one browser, on average. */
  readonly reloadEveryMs: number;
}

/** The measurements of the browsers since the start or the last call of `takeFigures`. Times in milliseconds. */
export interface BrowserFigures {
  /**
   * From the request of the page until its first view is complete: the page, the session, the migration and both lists.
   */
  readonly pageMs: readonly number[];
  /** The time of each answer of the API. */
  readonly apiMs: readonly number[];
  readonly events: number;
  /** The number of streams that are open now. */
  readonly openStreams: number;
  /** Requests that were not answered with 200, by status or error. */
  readonly failures: Readonly<Record<string, number>>;
}

export type BrowsersCalls = {
  /** Signs all browsers in, and opens the page in each. Returns once all watch the migration. */
  readonly start: (settings: BrowsersSettings) => Promise<void>;
  readonly takeFigures: () => Promise<BrowserFigures>;
  readonly usage: () => Promise<Usage>;
};

export interface Browsers {
  takeFigures(): Promise<BrowserFigures>;
  usage(): Promise<Usage>;
  stop(): Promise<void>;
}

export async function startBrowsers(settings: BrowsersSettings): Promise<Browsers> {
  return startProcessWith('browsers-process', async (browsers: ChildProgram<BrowsersCalls>) => {
    await browsers.call('start', settings);
    return {
      takeFigures: () => browsers.call('takeFigures'),
      usage: () => browsers.call('usage'),
      stop: () => browsers.end(),
    };
  });
}
