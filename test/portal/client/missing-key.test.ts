/** Tests the texts about a migration without a key: the advice must help in its state. */
import { missingKeyTexts } from '../../../portal/client/missing-key';

test.each([
  [
    'running',
    'acme.xero has no signed migration key at the moment',
    'nothing was sent; try again in a minute, and if this happens again, tell your contact',
  ],
  [
    'completed',
    'acme.xero was completed, so it no longer accepts credentials or client secrets',
    'nothing was sent; to move more companies, ask your contact for a new migration',
  ],
  [
    'terminated',
    'acme.xero was terminated, so it no longer accepts credentials or client secrets',
    'nothing was sent; ask your contact what happens next',
  ],
])('%s', (state, message, advice) => {
  expect(missingKeyTexts('acme.xero', state)).toEqual({ message, advice });
});
