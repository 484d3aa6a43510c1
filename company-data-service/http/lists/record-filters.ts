import { z } from 'zod';
import type { DataType } from '../../platform/data-types';
import { RECORD_SCHEMAS } from '../../platform/record-schemas';
import type { FieldFilter } from '../../records/records';
import { ListSchema } from './list-requests';
import { badRequest, type ValidationProblem } from '../errors/errors';

const LIST_PARAMETERS = new Set(Object.keys(ListSchema.shape));

/**
 * Parses filters such as `status=Paid`: one parameter per field, compared for equality.
 *
 * @throws ServiceError 400 with every field by which the list cannot be filtered, or whose value has the wrong type
 */
export function fieldFilters(dataType: DataType, query: Readonly<Record<string, unknown>>): FieldFilter[] {
  const fields: Readonly<Record<string, z.ZodType>> = RECORD_SCHEMAS[dataType].shape;
  const problems: ValidationProblem[] = [];
  const filters: FieldFilter[] = [];
  for (const [field, text] of Object.entries(query)) {
    if (LIST_PARAMETERS.has(field)) continue;
    const value = valueOf(fields[field], String(text));
    if (value === undefined) problems.push({ itemId: field, message: problemWith(dataType, field, fields[field]) });
    else filters.push({ field, value });
  }
  if (problems.length > 0) throw badRequest(problems);
  return filters;
}

/** Converts a text to the field's type; undefined if the list cannot be filtered by this field or value. */
function valueOf(field: z.ZodType | undefined, text: string): FieldFilter['value'] | undefined {
  if (field instanceof z.ZodNumber) return /^-?\d+(\.\d+)?$/.test(text) ? Number(text) : undefined;
  if (field instanceof z.ZodBoolean) return text === 'true' ? true : text === 'false' ? false : undefined;
  if (field === undefined || field instanceof z.ZodObject) return undefined;
  return text;
}

function problemWith(dataType: DataType, field: string, known: z.ZodType | undefined): string {
  if (known === undefined || known instanceof z.ZodObject) return `${dataType} cannot be filtered by ${field}`;
  return `${field} must be ${known instanceof z.ZodNumber ? 'a number' : 'true or false'}`;
}
