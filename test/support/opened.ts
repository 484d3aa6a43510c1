/**
 * Opens a resource before the tests of a file, and closes it after them. Its properties can be read only while tests
 * are running.
 */
export function useOpened<T extends { close(): Promise<void> }>(open: () => Promise<T>): Omit<T, 'close'> {
  let resource: T | undefined;
  beforeAll(async () => {
    resource = await open();
  });
  afterAll(() => resource?.close());
  return new Proxy({} as T, {
    get: (_, property) => {
      if (!resource) throw new Error('this can only be used while tests are running');
      return Reflect.get(resource, property) as unknown;
    },
  });
}
