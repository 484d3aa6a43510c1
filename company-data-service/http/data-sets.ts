import type { onRequestAsyncHookHandler } from 'fastify';
import { z } from 'zod';
import type { Connection } from '../companies/companies';
import { platformOf } from '../connections/connections';
import { DATA_TYPES, isDataType, type DataType } from '../platform/data-types';
import { unsupportedDataType } from './errors/errors';

export const DataTypeSchema = z.enum(DATA_TYPES);

const PathSchema = z.object({ dataType: z.string() });

/** Returns the connections whose organization has the data type. */
export function connectionsWith(connections: readonly Connection[], dataType: string): readonly Connection[] {
  return connections.filter(({ data_types }) => data_types.includes(dataType));
}

/**
 * Asserts that a data type exists and, if there are connections, that one of them has it.
 *
 * @throws ServiceError 404 with the names of the platforms
 */
export function assertSupported(connections: readonly Connection[], dataType: string): asserts dataType is DataType {
  const isMissing = connections.length > 0 && connectionsWith(connections, dataType).length === 0;
  if (!isDataType(dataType) || isMissing) {
    throw unsupportedDataType(dataType, [...new Set(connections.map((connection) => platformOf(connection).name))]);
  }
}

/** Checks, before the query and the body are validated, that the company has the path's data type. */
export const requireCompanyDataType: onRequestAsyncHookHandler = async ({ company, params }) => {
  assertSupported(company.connections, PathSchema.parse(params).dataType);
};

/** Checks, before the query and the body are validated, that the path's connection has the path's data type. */
export const requireConnectionDataType: onRequestAsyncHookHandler = async ({ connection, params }) => {
  assertSupported([connection], PathSchema.parse(params).dataType);
};
