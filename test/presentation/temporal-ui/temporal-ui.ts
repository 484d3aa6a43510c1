/** Starts an orchestrator with Temporal's Web UI, the codec server and a browser. */
import path from 'node:path';
import type { Page } from 'playwright-core';
import { reserveStackCodec } from '../../../stack/codec';
import { startReadOnlyUi } from '../../../stack/temporal/read-only-ui';
import { startTemporal } from '../../../stack/temporal/server';
import { createTemporaryFolder } from '../../../stack/folders';
import { until } from '../../support/async';
import { alterBody, startHttpProxy, sendAnswer } from '../../support/faults/http-proxy';
import { ownNamespace } from '../../support/jest/namespaces';
import { startOrchestrator, type Orchestrator } from '../../support/servers/orchestrator';
import { temporalCli } from '../../support/servers/shared-servers';
import { openBrowser } from './browser';

export interface TemporalUi {
  readonly orchestrator: Orchestrator;
  readonly page: Page;
  /** The address of the read-only Web UI. */
  readonly clientUiUrl: string;
  /** Keeps the sync of a company running until `releaseSyncs`. Must be called before the company is created. */
  holdSyncOf(company: string): void;
  releaseSyncs(): void;
  /** Opens a page of the namespace: `workflows`, `workflows/<id>`, `schedules/<id>`. */
  open(page: string): Promise<void>;
  /** Opens the "User Metadata" tab of a workflow. Returns the current details as soon as they contain the text. */
  details(workflowId: string, contained: string): Promise<string>;
  stopCodec(): Promise<void>;
  close(): Promise<void>;
}

const WIDTH = 1_280;
const HEIGHT = 1_000;
const SHOWN_WITHIN_MS = 60_000;
/** How long a page waits for its content. A busy worker can answer later, and then the test reloads the page. */
const ANSWERED_WITHIN_MS = 5_000;

const STILL_FETCHING = (status: object) => ({ ...status, bills: { dataType: 'bills', currentStatus: 'Fetching' } });

export async function openTemporalUi(chromium: string): Promise<TemporalUi> {
  const dataFolder = createTemporaryFolder();
  const codec = await reserveStackCodec(0);
  const temporal = await startTemporal({
    cli: temporalCli(),
    dataFolder: path.join(dataFolder, 'temporal'),
    ...{ port: 0, uiPort: 0, ephemeral: true },
    codecUrl: codec.url,
    namespaces: [ownNamespace()],
  });
  const orchestrator = await startOrchestrator({}, temporal.address);
  const { payloadKeys, service } = orchestrator.config;
  const proxy = await startHttpProxy(service.url);
  await orchestrator.startWorker({ service: { ...service, url: proxy.url } });
  const clientUi = await startReadOnlyUi({ uiUrl: temporal.uiUrl, namespace: ownNamespace(), port: 0 });
  const codecServer = await codec.start({ payloadKeys, uiUrls: [temporal.uiUrl, clientUi.url], dataFolder });
  const browser = await openBrowser(chromium);
  const page = await browser.newPage({ viewport: { width: WIDTH, height: HEIGHT } });
  page.setDefaultTimeout(SHOWN_WITHIN_MS);

  const open = async (pagePath: string): Promise<void> => {
    await page.goto(`${temporal.uiUrl}/namespaces/${orchestrator.config.temporal.namespace}/${pagePath}`);
  };
  // The UI shows Markdown in iframes. The last iframe contains the current details.
  const details = (): Promise<string> =>
    page
      .frameLocator('iframe')
      .last()
      .locator('body')
      .innerText({ timeout: ANSWERED_WITHIN_MS })
      .catch(() => '');
  return {
    orchestrator,
    page,
    clientUiUrl: clientUi.url,
    open,
    holdSyncOf: (company) => {
      proxy.on('POST', /^\/companies$/, async (response, { body }, pass) => {
        const created = await pass();
        if (body.includes(`"${company}"`)) {
          const { id } = JSON.parse(created.body) as { id: string };
          proxy.on('GET', new RegExp(`^/companies/${id}/dataStatus`), alterBody(STILL_FETCHING));
        }
        sendAnswer(response, created);
      });
    },
    releaseSyncs: () => proxy.reset(),
    details: async (workflowId, contained) => {
      await open(`workflows/${workflowId}`);
      await page.getByRole('tab', { name: 'User Metadata' }).click();
      let text = '';
      await until(async () => {
        text = await details();
        if (text.includes(contained)) return true;
        const answered = page.waitForResponse(/__temporal_workflow_metadata/, { timeout: ANSWERED_WITHIN_MS });
        await page.keyboard.press('r');
        await answered.catch(() => undefined);
        return false;
      }, SHOWN_WITHIN_MS);
      return text;
    },
    stopCodec: () => codecServer.stop(),
    close: async () => {
      await browser.close();
      await orchestrator.close();
      await proxy.close();
      await codecServer.stop();
      await clientUi.stop();
      await temporal.stop();
    },
  };
}
