/** Supplies the client's application. Its client secret is encrypted in this page. */
import { clientSecretProblem } from '../../../domain/supply/client-secret';
import { applicationDigest, hashOfBox } from '../../../domain/supply/sealed-digest';
import { isPlaceholder } from '../../../domain/text/placeholders';
import { findPlatform } from '../../../platforms/platforms';
import { isStillOffered, signed, submit, type App } from '../app';
import type { Action } from '../../client/api';
import { base64Of } from '../../client/supply';
import { FormProblem, openDialog } from '../elements/dialog';
import { el, field, hint } from '../elements/elements';
import { createSealer } from './sealing';
import { sealingKey } from './supply';

export function openApplication(app: App, action: Action): void {
  const { application, platform } = app.view();
  const clientId = el('input', { id: 'client-id', autocomplete: 'off', maxlength: 250, spellcheck: false });
  const secret = el('input', { id: 'client-secret', type: 'password', autocomplete: 'off', spellcheck: false });
  const suggested = findPlatform(platform.key)?.environment ?? application?.environment;
  const environment = el(
    'select',
    { id: 'environment' },
    ...(['production', 'sandbox'] as const).map((each) =>
      el('option', { value: each, selected: suggested === each }, each),
    ),
  );
  clientId.value = application?.clientId ?? '';

  openDialog({
    ...action,
    fields: [
      el(
        'fieldset',
        {},
        el('legend', {}, `Your application at ${platform.name}`),
        field('Client id', clientId),
        field('Environment', environment),
        field('Client secret', secret, hint('This page encrypts the client secret before it is sent.')),
      ),
    ],
    send: async (reason, { say }) => {
      const facts = { clientId: clientId.value.trim(), environment: environment.value };
      if (facts.clientId === '') throw new FormProblem('enter the client id');
      if (isPlaceholder(facts.clientId))
        throw new FormProblem(`"${facts.clientId}" is a placeholder; enter the client id from ${platform.name}`);
      if (secret.value.trim() === '') throw new FormProblem('enter the client secret');
      const problem = clientSecretProblem(secret.value.trim());
      if (problem !== null) throw new FormProblem(`the client secret ${problem}`);
      const key = await sealingKey(app);
      const seal = await createSealer(key);
      const box = await seal(secret.value.trim(), ['application', key.migrationId, facts.clientId, facts.environment]);
      const sealedDigest = applicationDigest({ ...facts, boxHash: hashOfBox(box) });
      const fields = { ...facts, sealedDigest, ...(reason === undefined ? {} : { reason }) };
      const decision = await signed(app, { message: 'applicationSupplied', fields });
      const body = { keyFingerprint: key.fingerprint, ...facts, sealed: base64Of(box), decision };
      return submit('/api/application', body, say);
    },
    onDone: app.refresh,
    isStillOffered: () => isStillOffered(app, action),
  });
}
