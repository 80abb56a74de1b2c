import { expect, test } from 'vitest';
import { explain } from '../../src/people/provider.ts';

const because = (cause: unknown) => explain(new Error('general', { cause: new Error('less so', { cause }) }));

test.each([
  [undefined, 'general: less so'],
  [new Response('', { status: 404 }), 'general: less so: HTTP status 404'],
  [{ error: 'invalid_client', error_description: 'wrong' }, 'general: less so: invalid_client: wrong'],
  [new URLSearchParams('error=access_denied&state=secret'), 'general: less so: access_denied'],
  [
    { expected: 'nonce', claims: { email: 'ada@example.com' }, claim: 'nonce' },
    'general: less so: claim nonce',
  ],
  [
    { expected: 'https://a.example/', body: { issuer: 'https://a.example/x/' }, attribute: 'issuer' },
    'general: less so: TAILRACE_OIDC_ISSUER is https://a.example/, and the provider names https://a.example/x/',
  ],
  [{ token: 'secret' }, 'general: less so'],
])('a failed sign-in is logged with what the provider has said, and no more: %j', (cause, reason) => {
  expect(because(cause)).toBe(reason);
});

test('the reason in the log is short', () => {
  expect(explain(new Error('a'.repeat(2_000)))).toHaveLength(1_000);
});
