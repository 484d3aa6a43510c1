import { FaultPlanSchema, type Faults } from '../../faults/faults';
import type { Api } from '../context';
import { administratorOnly } from '../resources';
import { NothingSchema } from '../schemas/common';

/** Adds the endpoints that configure faults, in a service that was started for tests. Faults do not affect them. */
export function faultRoutes(app: Api, faults: Faults): void {
  const onRequest = administratorOnly;
  const tags = ['Sandbox'];

  app.get(
    '/sandbox/faults',
    { onRequest, schema: { summary: 'Read the configured faults', tags, response: { 200: FaultPlanSchema } } },
    async () => faults.configuration,
  );

  app.put(
    '/sandbox/faults',
    {
      onRequest,
      schema: {
        summary: 'Configure faults of the service, replacing the previous ones',
        tags,
        body: FaultPlanSchema,
        response: { 200: FaultPlanSchema },
      },
    },
    async ({ body }) => {
      faults.configure(body);
      return faults.configuration;
    },
  );

  app.delete(
    '/sandbox/faults',
    { onRequest, schema: { summary: 'Remove all faults', tags, response: { 204: NothingSchema } } },
    async (_request, reply) => {
      faults.configure({ seed: 1, faults: [] });
      return reply.code(204).send();
    },
  );
}
