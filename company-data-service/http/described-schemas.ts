import { createJsonSchemaTransform, createJsonSchemaTransformObject } from 'fastify-type-provider-zod';
import { z } from 'zod';

/**
 * How schemas are written down: answers may gain fields, and one without a body has none. What is left to each field's
 * own form needs nothing said.
 */
const zodToJsonConfig: Parameters<typeof createJsonSchemaTransform>[0]['zodToJsonConfig'] = {
  override: ({ zodSchema, jsonSchema }) => {
    if (zodSchema instanceof z.ZodUndefined) jsonSchema.type = 'null';
    if (jsonSchema.additionalProperties === false) delete jsonSchema.additionalProperties;
  },
};

export const describedSchemas = createJsonSchemaTransform({ zodToJsonConfig });
export const describedComponents = createJsonSchemaTransformObject({ zodToJsonConfig });
