import { z } from 'zod';

const wholeNumber = (from: number, to: number) =>
  z.preprocess(
    (text) => (typeof text === 'string' && /^\d+$/.test(text) ? Number(text) : text),
    z.int('must be a whole number').min(from).max(to),
  );

export const PagingSchema = z.object({
  page: wholeNumber(1, Number.MAX_SAFE_INTEGER).default(1).describe('Default: 1.'),
  pageSize: wholeNumber(1, 5000).default(100).describe('Default: 100.'),
});
export type Paging = z.infer<typeof PagingSchema>;

const LinkSchema = z.object({ href: z.string().describe('Relative to the base URL.') });

/** Returns the schema of a page, the response of every list. */
export const pageOf = <Item extends z.ZodType>(item: Item) =>
  z.object({
    results: z.array(item),
    pageNumber: z.number().int(),
    pageSize: z.number().int(),
    totalResults: z.number().int().describe('Number of results after filtering.'),
    _links: z.object({
      self: LinkSchema,
      current: LinkSchema,
      next: LinkSchema.optional(),
      previous: LinkSchema.optional(),
    }),
  });

export const ErrorSchema = z
  .object({
    statusCode: z.number().int(),
    service: z.string().describe('The component that caused the error: `PublicApi` or the name of a platform.'),
    error: z.string(),
    correlationId: z.uuid().describe('Quote this id when you contact support.'),
    validation: z
      .object({
        errors: z.array(
          z.object({ message: z.string(), itemId: z.string().optional(), validatorName: z.string().optional() }),
        ),
        warnings: z.array(z.unknown()),
      })
      .optional(),
    canBeRetried: z.enum(['True', 'False', 'Unknown']),
    detailedErrorCode: z.number().int(),
  })
  .meta({ id: 'Error' });

export const NothingSchema = z.undefined().describe('No body.');

/** Returns the OpenAPI description of an error. */
export const errorAnswer = (description: string) => ({
  description,
  content: { 'application/json': { schema: ErrorSchema } },
});

export const TOO_MANY_FROM_ADDRESS = errorAnswer(
  'Too many requests from this address. Retry after `Retry-After` seconds.',
);

/** Returns the OpenAPI description of a response that is not JSON. */
export const textAnswer = (contentType: string) => ({
  description: 'Success',
  content: { [contentType]: { schema: z.string() } },
});
