import type { Connection } from '../companies/companies';
import { platformOf } from '../connections/connections';
import { isDataType, type DataType } from '../platform/data-types';
import { unsupportedDataType } from './errors';

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
