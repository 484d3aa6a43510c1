import { FaultPlanSchema, type Faults } from '../../faults/faults';
import type { Api } from '../context';
import { administratorOnly } from '../resources';
import { NothingSchema } from '../schemas/common';

/** Where faults are ordered. Only there when the service was started for testing, and not subject to faults itself. */
export function faultRoutes(app: Api, faults: Faults): void {
  const onRequest = administratorOnly;
  const tags = ['Sandbox'];

  app.get(
    '/sandbox/faults',
    { onRequest, schema: { summary: 'Read which faults are ordered', tags, response: { 200: FaultPlanSchema } } },
    async () => faults.ordered,
  );

  app.put(
    '/sandbox/faults',
    {
      onRequest,
      schema: {
        summary: 'Order faults of the service itself, in the place of those before',
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
    { onRequest, schema: { summary: 'End all faults', tags, response: { 204: NothingSchema } } },
    async (_request, reply) => {
      faults.order({ seed: 1, faults: [] });
      return reply.code(204).send();
    },
  );
}
