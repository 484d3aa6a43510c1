/** Reads the errors of `fetch`: why there was no connection. */

/** OpenSSL's and Node's codes for a certificate that cannot be trusted. */
const CERTIFICATE = /CERT|SELF_SIGNED|UNABLE_TO_VERIFY|ALTNAME/;

/** Returns the error that made `fetch` fail. */
export const reasonOf = (error: unknown): unknown =>
  error instanceof Error && error.cause instanceof Error ? error.cause : error;

/** Returns the code of the error that made `fetch` fail; empty if it has none, as in every browser. */
export function codeOf(error: unknown): string {
  const reason = reasonOf(error);
  return reason instanceof Error && 'code' in reason && typeof reason.code === 'string' ? reason.code : '';
}

/** Returns whether the certificate was refused. The message of the error then says what to do. */
export const isCertificateRefused = (error: unknown): boolean => CERTIFICATE.test(codeOf(error));
