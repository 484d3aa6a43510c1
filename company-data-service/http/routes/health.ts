import { sql } from 'kysely';
import { z } from 'zod';
import { failureForLog } from '../../database/database';
import type { Api, ServiceContext } from '../context';
import { ServiceError } from '../errors/errors';

const HealthSchema = z.object({ status: z.literal('ok') });

export function healthRoutes(app: Api, { db }: ServiceContext): void {
  app.get(
    '/healthz',
    {
      // Health checks would otherwise fill the log.
      logLevel: 'warn',
      schema: {
        summary: 'Check that the service works',
        tags: ['Service'],
        security: [],
        response: { 200: HealthSchema },
      },
    },
    async ({ log }) => {
      try {
        await sql`select 1`.execute(db);
      } catch (failure) {
        log.error({ err: failureForLog(failure) }, 'the database cannot be reached');
        throw new ServiceError(503, 'The database cannot be reached.');
      }
      return { status: 'ok' as const };
    },
  );
}
