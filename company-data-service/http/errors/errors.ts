/** The errors of the service, each with its exact status code and text. */
import { STATUS_CODES } from 'node:http';

/** The value of `service` in an error body, unless a platform caused the error. */
const PUBLIC_API = 'PublicApi';

export interface ValidationProblem {
  message: string;
  itemId?: string;
  validatorName?: string;
}

export interface ServiceErrorOptions {
  /** The component that caused the error. Default: the public API. */
  readonly service?: string;
  readonly problems?: readonly ValidationProblem[];
  readonly headers?: Readonly<Record<string, string>>;
}

/** Thrown to answer a request with an error, in the error body of the specification. */
export class ServiceError extends Error {
  override readonly name = 'ServiceError';

  constructor(
    readonly statusCode: number,
    message: string,
    readonly options: ServiceErrorOptions = {},
  ) {
    super(message);
  }
}

export const badRequest = (problems: readonly ValidationProblem[]) =>
  new ServiceError(400, STATUS_CODES[400] ?? '', { problems });

export const unauthorized = () => new ServiceError(401, 'The API key is missing or wrong.');

export const revokedKey = () => new ServiceError(403, 'The API key is outdated: it was revoked.');

export const foreignResource = () => new ServiceError(403, 'The API key is not associated with this resource.');

export const notAnAdministrator = () => new ServiceError(403, 'This request requires an administrator key.');

export const downstreamInaccessible = (platformName: string, message: string) =>
  new ServiceError(403, message, { service: platformName });

export const accountExpired = () =>
  new ServiceError(402, 'Payment Required', {
    problems: [{ message: 'The account has expired. Please choose a plan to continue.' }],
  });

export const companyLimitExceeded = (limit: number) =>
  new ServiceError(402, 'CompanyValidationException: Company limit exceeded', {
    problems: [
      {
        itemId: 'Company',
        message: `The free trial is limited to ${limit} companies. Please delete companies that you do not need and retry.`,
        validatorName: 'CreateCompanyValidator',
      },
    ],
  });

export const syncScheduleNotAllowed = () =>
  new ServiceError(402, 'SyncSettingsValidationException: Sync schedule not allowed');

export const notFound = (what: string) => new ServiceError(404, `${what} was not found.`);

export const unsupportedDataType = (dataType: string, platformNames: readonly string[]) =>
  new ServiceError(404, `Datatype ${dataType} not supported by platform(s) ${platformNames.join(', ')}`);

export const itemNotFound = (platformName: string, exception: string, description: string) =>
  new ServiceError(404, `${exception}: ${description}`, { service: platformName });

export const methodNotAllowed = (allowed: readonly string[]) =>
  new ServiceError(405, STATUS_CODES[405] ?? '', { headers: { allow: allowed.join(', ') } });

export const conflict = (message: string) => new ServiceError(409, message);

export const tooManyRequests = (retryAfterS: number) =>
  new ServiceError(429, STATUS_CODES[429] ?? '', { headers: { 'retry-after': String(retryAfterS) } });

/** Returns the error body of the specification. */
export function errorBody(failure: ServiceError, correlationId: string) {
  const { service = PUBLIC_API, problems } = failure.options;
  return {
    statusCode: failure.statusCode,
    service,
    error: failure.message,
    correlationId,
    ...(problems && { validation: { errors: problems, warnings: [] } }),
    canBeRetried: canBeRetried(failure.statusCode),
    detailedErrorCode: 0,
  };
}

function canBeRetried(statusCode: number): 'True' | 'False' | 'Unknown' {
  if (statusCode === 409 || statusCode === 429 || statusCode === 503) return 'True';
  return statusCode >= 500 ? 'Unknown' : 'False';
}
