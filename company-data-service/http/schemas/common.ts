import { z } from 'zod';

const wholeNumber = (from: number, to: number) =>
  z.string().regex(/^\d+$/, 'must be a whole number').transform(Number).pipe(z.number().int().min(from).max(to));

export const PagingSchema = z.object({
  page: wholeNumber(1, Number.MAX_SAFE_INTEGER).default(1),
  pageSize: wholeNumber(1, 5000).default(100),
});
export type Paging = z.infer<typeof PagingSchema>;

const LinkSchema = z.object({ href: z.string().describe('relative to the base URL') });

/** The object that every list answers with. */
export const pageOf = <Item extends z.ZodType>(item: Item) =>
  z.object({
    results: z.array(item),
    pageNumber: z.number().int(),
    pageSize: z.number().int(),
    totalResults: z.number().int().describe('after filters'),
    _links: z.object({
      self: LinkSchema,
      current: LinkSchema,
      next: LinkSchema.optional(),
      previous: LinkSchema.optional(),
    }),
  });

export const ErrorSchema = z.object({
  statusCode: z.number().int(),
  service: z.string(),
  error: z.string(),
  correlationId: z.uuid(),
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
});

export const NothingSchema = z.undefined().describe('no body');
