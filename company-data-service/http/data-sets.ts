import type { onRequestAsyncHookHandler } from 'fastify';
import { z } from 'zod';
import type { Connection } from '../companies/companies';
import { platformOf } from '../connections/connections';
import { DATA_TYPES, isDataType, type DataType } from '../platform/data-types';
import { unsupportedDataType } from './errors';

/** Of a path whose data type a hook has checked. */
export const DataTypeSchema = z.enum(DATA_TYPES);

const PathSchema = z.object({ dataType: z.string() });

/** Those connections whose organization has the data type. */
export function offering(connections: readonly Connection[], dataType: string): readonly Connection[] {
  return connections.filter(({ data_types }) => data_types.includes(dataType));
}

/**
 * Makes sure that a data type exists and that, where there are connections, one of them has it.
 *
 * @throws ServiceError 404 of an unsupported data type, naming the platforms
 */
export function requireSupport(connections: readonly Connection[], dataType: string): asserts dataType is DataType {
  const nobodyHasIt = connections.length > 0 && offering(connections, dataType).length === 0;
  if (!isDataType(dataType) || nobodyHasIt) {
    throw unsupportedDataType(dataType, [...new Set(connections.map((connection) => platformOf(connection).name))]);
  }
}

/** Makes sure that the company has the path's data type, before query and body are looked at. */
export const companyHasDataType: onRequestAsyncHookHandler = async ({ company, params }) => {
  requireSupport(company.connections, PathSchema.parse(params).dataType);
};

/** The same for the path's connection. */
export const connectionHasDataType: onRequestAsyncHookHandler = async ({ connection, params }) => {
  requireSupport([connection], PathSchema.parse(params).dataType);
};
