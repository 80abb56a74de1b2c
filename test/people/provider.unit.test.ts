import { expect, test } from 'vitest';
import { createProvider } from '../../src/people/provider.ts';
import { startLyingProvider } from '../support/lying-provider.ts';
import { CLIENT_ID, CLIENT_SECRET } from '../support/oidc.ts';

const lying = await startLyingProvider();
const clock = { now: 1e12 };
const settings = { oidcIssuer: lying.issuer, oidcClient: `${CLIENT_ID}:${CLIENT_SECRET}` };
const REDIRECT = 'http://127.0.0.1/auth/callback';
const provider = createProvider(settings, REDIRECT, () => clock.now);

/** How often the provider was asked for its description since the last call. */
const readings = () => lying.asked.splice(0).filter((path) => path.includes('/.well-known/')).length;

async function signIn(): Promise<string> {
  const { url, secrets } = await provider.begin();
  return (await provider.finish(new URL(lying.pass(url)).search, secrets)).subject;
}

test('the description of the provider is read again after five minutes, its keys by each sign-in', async () => {
  for (let signIns = 0; signIns < 2; signIns++) expect(await signIn()).toBe('ada');
  expect(lying.asked.filter((path) => path === '/jwks')).toHaveLength(2);
  expect(readings()).toBe(1);
  clock.now += 300_001;
  await signIn();
  expect(readings()).toBe(1);
});

test('a description that names another issuer is not kept, nor one with which a sign-in has failed', async () => {
  clock.now += 300_001;
  lying.lie.now = { described: 'https://other.example' };
  for (let tries = 0; tries < 2; tries++)
    await expect(provider.begin()).rejects.toMatchObject({ code: 'engine_unavailable' });
  expect(readings()).toBe(2);
  lying.lie.now = { iss: 'https://other.example' };
  await expect(signIn()).rejects.toThrow();
  expect(readings()).toBe(2);
});

test('a provider that does not respond any more is reported as that, whatever was kept', async () => {
  lying.lie.now = {};
  const { url, secrets } = await provider.begin();
  const { search } = new URL(lying.pass(url));
  await lying.stop();
  await expect(provider.finish(search, secrets)).rejects.toMatchObject({ code: 'engine_unavailable' });
});
