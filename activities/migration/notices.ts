/** Delivers notices: always to the log, and to a webhook if one is configured. */
import { createHmac } from 'node:crypto';
import { activityInfo, ApplicationFailure } from '@temporalio/activity';
import type { Logger } from 'pino';
import { request } from 'undici';
import type { Notice } from '../../domain/progress/notices';
import type { Secret } from '../../security';
import { readMigration } from '../../store';
import type { ActivityDeps, Notifier } from '../deps';

export interface Webhook {
  readonly url: string;
  /** The key that signs the requests. */
  readonly secret: Secret;
}

/** Thrown when the webhook responds with a status of 300 or higher. */
class NoticeRefused extends Error {
  override readonly name = 'NoticeRefused';
}

const ANSWER_TIMEOUT_MS = 10_000;

/**
 * Creates the notifier. It signs requests as https://www.standardwebhooks.com specifies, with the headers `webhook-id`,
 * `webhook-timestamp` (seconds) and `webhook-signature` (`v1,` followed by the base64 of an HMAC-SHA256 of
 * `<id>.<timestamp>.<body>`).
 */
export function createNotifier(log: Pick<Logger, 'info' | 'warn'>, webhook: Webhook | undefined): Notifier {
  return {
    post: async (notice, id) => {
      log[notice.kind === 'reminder' ? 'info' : 'warn'](notice, `notice: ${notice.kind}`);
      if (!webhook) return;
      const body = JSON.stringify({ type: `tokenferry.${notice.kind}`, data: notice });
      const timestamp = String(Math.floor(Date.now() / 1_000));
      const { statusCode, body: answer } = await request(webhook.url, {
        method: 'POST',
        headers: {
          'content-type': 'application/json',
          'webhook-id': id,
          'webhook-timestamp': timestamp,
          'webhook-signature': `v1,${signature(webhook.secret, `${id}.${timestamp}.${body}`)}`,
        },
        body,
        headersTimeout: ANSWER_TIMEOUT_MS,
        bodyTimeout: ANSWER_TIMEOUT_MS,
      });
      await answer.dump();
      if (statusCode >= 300) throw new NoticeRefused(`the webhook responded with status ${statusCode}`);
    },
  };
}

/** Standard Webhooks secrets are base64 with the prefix `whsec_`. */
function signature(secret: Secret, content: string): string {
  const key = Buffer.from(secret.reveal().replace(/^whsec_/, ''), 'base64');
  return createHmac('sha256', key).update(content).digest('base64');
}

export function noticeActivities({ db, notices }: ActivityDeps) {
  return {
    /**
     * Sends a notice. Fails without a retry if the migration is not in the ledger: anyone can start a workflow with any
     * id.
     */
    async sendNotice(notice: Notice): Promise<void> {
      if (!(await readMigration(db, notice.migrationId)))
        throw ApplicationFailure.nonRetryable(`migration ${notice.migrationId} is not in the ledger`, 'NotInLedger');
      const { workflowExecution, activityId } = activityInfo();
      await notices.post(notice, `${workflowExecution?.runId ?? notice.migrationId}.${activityId}`);
    },
  };
}
