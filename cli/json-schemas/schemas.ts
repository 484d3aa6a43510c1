import type { z } from 'zod';

/** By the name of the form: what prints it, and its fields. */
export type Schemas = Readonly<Record<`ferry.${string}/${number}`, readonly [command: string, fields: z.ZodRawShape]>>;
