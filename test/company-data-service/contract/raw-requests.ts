/** Requests to the service for fuzz tests. They can be invalid in every part. */
import { ENDPOINTS } from './endpoints';

export interface Input {
  readonly method: string;
  /** `{companyId}` and other names are replaced by ids that exist. */
  readonly path: string;
  readonly query: string;
  readonly headers: readonly (readonly [string, string])[];
  /** The role of the API key; null sends no key. */
  readonly key: 'client' | 'administrator' | null;
  readonly body: Buffer | null;
  /** If present, exactly these bytes are sent, and the other fields are ignored. */
  readonly raw?: Buffer;
}

export const input = (method: string, path: string, changes: Partial<Input> & { text?: string } = {}): Input => {
  const { text, ...more } = changes;
  return {
    method,
    path,
    query: '',
    headers: [],
    key: 'administrator',
    body: text === undefined ? null : Buffer.from(text),
    ...more,
  };
};

/** Returns a request of exactly these bytes. */
export const raw = (bytes: string | Buffer): Input => input('', '', { raw: Buffer.from(bytes) });
export const PATHS = ENDPOINTS.map(({ path }) => path);
export const COMPANY = '/companies/{companyId}';
export const encoded = (text: string): string => encodeURIComponent(Buffer.from(text, 'utf8').toString('utf8'));
