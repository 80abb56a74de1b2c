import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { readReceivers } from '../../src/alerts/receivers/receivers-file.ts';
import { readDefinitions } from '../../src/definitions/read.ts';
import { readQuotas } from '../../src/ingest/usage.ts';
import { readRoles } from '../../src/people/roles-file.ts';
import { faultsIn, faultsOf } from '../support/faults.ts';
import { ownFolder } from '../support/service.ts';

const folder = await ownFolder();

const RIGHT = {
  TAILRACE_PUBLIC_URL: 'https://logs.example.com',
  TAILRACE_OIDC_ISSUER: 'https://login.example.com/realms/main',
  TAILRACE_OIDC_CLIENT: 'tailrace:secret',
  TAILRACE_ROLES_FILE: 'roles.yaml',
};

test.each([
  [{ TAILRACE_OIDC_ISSUER: 'http://login.example.com' }, /^TAILRACE_OIDC_ISSUER.*https:/],
  [{ TAILRACE_PUBLIC_URL: 'http://logs.example.com' }, /^TAILRACE_PUBLIC_URL.*https:/],
  [{ TAILRACE_OIDC_CLIENT: 'tailrace' }, /^TAILRACE_OIDC_CLIENT.*colon/],
  [{ TAILRACE_OIDC_CLIENT: 'tailrace:' }, /^TAILRACE_OIDC_CLIENT.*secret/],
  [{ TAILRACE_OIDC_CLIENT: 'tailrace: ' }, /^TAILRACE_OIDC_CLIENT.*secret/],
  [{ TAILRACE_ROLES_FILE: '' }, /^TAILRACE_ROLES_FILE: must be set too/],
  [{ TAILRACE_TRUSTED_USER_HEADER: 'x-user' }, /^TAILRACE_TRUST_PROXY: must be set too/],
])('settings of sign-in with %j are rejected', (wrong, fault) => {
  expect(faultsOf(RIGHT)).toEqual([]);
  expect(faultsOf({ ...RIGHT, ...wrong })).toEqual([expect.stringMatching(fault)]);
});

test.each(['User-Agent', 'X-Forwarded-Proto', 'X-User,X-User', 'X-User,X-Tailrace-Console'])(
  'a header that others than the proxy set names no user: %s',
  (names) => {
    const proxied = { ...RIGHT, TAILRACE_TRUST_PROXY: '10.0.0.5', TAILRACE_TRUSTED_USER_HEADER: names };
    expect(faultsOf(proxied)).toEqual([expect.stringMatching(/^TAILRACE_TRUSTED_USER_HEADER: must be/)]);
  },
);

async function faultsOfRoles(text: string) {
  const path = join(folder.path, 'roles.yaml');
  await writeFile(path, text);
  const { definitions } = await readDefinitions({ endpointsDir: 'endpoints', sourcesDir: 'sources' });
  return await faultsIn(() => readRoles(path, definitions));
}

test('a file of roles with unknown names is rejected, each with its line', async () => {
  const faults = await faultsOfRoles(
    [
      'a: { groups: [a], scopes: [query], sources: [no.such] }',
      'b: { groups: [b], scopes: [query], endpoints: [no.endpoint] }',
      'c: { groups: [c], scopes: [query], pins: { no_parameter: x } }',
      'd: { scopes: [query] }',
      'e: { addresses: ["*"], scopes: [query] }',
      'f: { groups: [f], scopes: [query], pins: { project: "claim:" } }',
      'g: { groups: [g], scopes: [query], pins: { project: "Claim:projects" } }',
      'h: { groups: [h], scopes: [query], pins: { project: "claim: projects" } }',
    ].join('\n'),
  );
  const found = [/:1: .*no\.such/, /:2: .*no\.endpoint/, /:3: .*no_parameter/, /:4: d matches no person/];
  const ofClaims = [6, 7, 8].map((line) => new RegExp(`:${line}: .*must name a claim`));
  for (const one of [...found, /:5: .*not a mail address/, ...ofClaims])
    expect(faults).toContainEqual(expect.stringMatching(one));
  expect(faults).toHaveLength(8);
});

test.each([
  ['an unknown scope', 'a: { groups: [a], scopes: [qeury] }', /must be one of query.*"qeury"/],
  ['a claim that is a map', 'a: { claims: { kind: { is: b } }, scopes: [query] }', /:1: .*a string/],
  ['a pin that is a list', 'a: { groups: [a], scopes: [query], pins: { project: [b] } }', /:1: .*a string/],
  // A project 0123 would become 123, and an organisation of 19 digits another one.
  ['a pin that is a number', 'a: { groups: [a], scopes: [query], pins: { project: 0123 } }', /in quotes/],
  ['a claim that is a number', 'a: { claims: { org: 12345678901234567891 }, scopes: [query] }', /in quotes/],
  ['groups that are a text', 'a: { groups: a, scopes: [query] }', /a list of groups/],
  ['an unknown field', 'a: { group: [a], scopes: [query] }', /unknown field "group"/],
  ['a list of roles', '- { groups: [a], scopes: [query] }', /a map of at most 1000 roles/],
  ['no YAML', 'a: {', /:\d+/],
])('a file of roles with %s is rejected', async (_, text, fault) => {
  expect(await faultsOfRoles(text)).toContainEqual(expect.stringMatching(fault));
});

const NONE = { endpoints: [], sources: [], alerts: [], dashboards: [], searches: [] };
test.each([
  ['TAILRACE_RECEIVERS_FILE', (path: string) => readReceivers(path, { environment: {} })],
  ['TAILRACE_ROLES_FILE', (path: string) => readRoles(path, NONE)],
  ['TAILRACE_QUOTAS_FILE', readQuotas],
])('a missing file of the operator is named with its setting: %s', async (setting, read) => {
  const path = join(folder.path, 'missing.yaml');
  await expect(read(path)).rejects.toThrow(`${path}:1: is missing; ${setting} names it`);
});
