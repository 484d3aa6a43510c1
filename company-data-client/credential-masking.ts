/** Masks credentials in the successful response to an authorization. */
import { maskSecrets, redactErrorText } from '../security/redaction';
import type { Connection } from './schemas';

/**
 * Masks the credential in the texts of a connection, which can quote it even in a success response. In error messages,
 * the other fields of the authorization are masked, too. Other texts keep these fields, because they identify the
 * organization, which is compared with the supplied organization.
 */
export function withoutSecrets(connection: Connection, fields: Readonly<Record<string, string>>): Connection {
  const credentials = Object.entries(fields).flatMap(([name, value]) =>
    /token|secret|key/i.test(name) ? [value] : [],
  );
  const mask = <T extends string | undefined>(value: T) => value && maskSecrets(value, credentials);
  const maskInfo = ([name, value]: [string, string]): [string, string] => {
    const isKept =
      name === 'organizationId' && credentials.some((credential) => isPartBetweenSeparators(value, credential));
    return [name, isKept ? value : mask(value)];
  };
  const { platformName, linkUrl, connectionInfo = {} } = connection;
  return {
    ...connection,
    platformName: mask(platformName),
    linkUrl: mask(linkUrl),
    connectionInfo: Object.fromEntries(Object.entries(connectionInfo).map(maskInfo)),
    dataConnectionErrors: connection.dataConnectionErrors.map((error) => ({
      ...error,
      statusText: mask(error.statusText),
      errorMessage: error.errorMessage && redactErrorText(error.errorMessage, Object.values(fields)),
    })),
  };
}

const LONGEST_ORGANIZATION_ID = 40;

/**
 * Returns whether a credential consists of several parts, and one of them is this organization's id. The id must stay
 * readable, because it is compared with the supplied id.
 */
function isPartBetweenSeparators(organizationId: string, credential: string): boolean {
  if (organizationId.length > LONGEST_ORGANIZATION_ID || organizationId === credential) return false;
  const at = credential.indexOf(organizationId);
  if (at === -1) return false;
  const around = credential.charAt(at - 1) + credential.charAt(at + organizationId.length);
  return !/[\p{L}\p{N}_]/u.test(around);
}
