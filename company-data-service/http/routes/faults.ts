import { FaultPlanSchema, type Faults } from '../../faults/faults';
import type { Api } from '../context';
import { administratorOnly } from '../resources';
import { NothingSchema } from '../schemas/common';

/** Configures faults. Exists only if the service was started for tests; the faults do not apply to it. */
export function faultRoutes(app: Api, faults: Faults): void {
  const onRequest = administratorOnly;
  const tags = ['Sandbox'];

  app.get(
    '/sandbox/faults',
    { onRequest, schema: { summary: 'Read the configured faults', tags, response: { 200: FaultPlanSchema } } },
    async () => faults.ordered,
  );

  app.put(
    '/sandbox/faults',
    {
      onRequest,
      schema: {
        summary: 'Configure faults of the service, in place of the previous ones',
        tags,
        body: FaultPlanSchema,
        response: { 200: FaultPlanSchema },
      },
    },
    async ({ body }) => {
      faults.order(body);
      return faults.ordered;
    },
  );

  app.delete(
    '/sandbox/faults',
    { onRequest, schema: { summary: 'Remove all faults', tags, response: { 204: NothingSchema } } },
    async (_request, reply) => {
      faults.order({ seed: 1, faults: [] });
      return reply.code(204).send();
    },
  );
}
