/** Tests the limits of the portal's requests. */
import { createECDH, randomUUID } from 'node:crypto';
import { credentialFields } from '../../../domain/supply/columns';
import { MAX_CREDENTIAL_FIELD } from '../../../domain/supply/row-parser';
import { PLATFORMS } from '../../../platforms/platforms';
import { SealedCredentialsSchema } from '../../../portal/contract/requests';
import { createSealer, sealCredential, Secret } from '../../../security';

test.each(PLATFORMS.map((platform) => [platform.name, platform] as const))(
  'the largest credential that a file can contain is accepted: %s',
  (_, platform) => {
    const seal = createSealer(createECDH('prime256v1').generateKeys(), 'acme');
    const label = { reference: 'C-1', obtainedAt: '2030-01-01T00:00:00.000Z' };
    const names = [...credentialFields(platform), platform.organizationField];
    const fields = Object.fromEntries(names.map((name) => [name, 'a'.repeat(MAX_CREDENTIAL_FIELD)]));
    const sealed = sealCredential(seal, 'acme', { ...label, fields: new Secret(fields) }).toString('base64');
    const request = { decisionId: randomUUID(), replaces: false, keyFingerprint: 'any' };
    expect(
      SealedCredentialsSchema.safeParse({ ...request, credentials: [{ ...label, sealed }] }).error,
    ).toBeUndefined();
  },
);
