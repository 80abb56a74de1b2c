import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { readDefinitions } from '../../src/definitions/read.ts';
import { InputError } from '../../src/errors.ts';
import { readRoles } from '../../src/people/roles-file.ts';
import { faultsOf } from '../support/config.ts';
import { temporaryFolder } from '../support/service.ts';

const folder = await temporaryFolder();
afterAll(folder.remove);

const RIGHT = {
  TAILRACE_PUBLIC_URL: 'https://logs.example.com',
  TAILRACE_OIDC_ISSUER: 'https://login.example.com/realms/main',
  TAILRACE_OIDC_CLIENT_ID: 'tailrace',
  TAILRACE_OIDC_CLIENT_SECRET: 'secret',
  TAILRACE_ROLES_FILE: 'roles.yaml',
};

describe('settings of sign-in', () => {
  test.each([
    [
      'an issuer over http',
      { TAILRACE_OIDC_ISSUER: 'http://login.example.com' },
      /^TAILRACE_OIDC_ISSUER.*https:/,
    ],
    ['an issuer that is no address', { TAILRACE_OIDC_ISSUER: 'login' }, /^TAILRACE_OIDC_ISSUER/],
    [
      'a console over http',
      { TAILRACE_PUBLIC_URL: 'http://logs.example.com' },
      /^TAILRACE_PUBLIC_URL.*https:/,
    ],
    ['scopes without openid', { TAILRACE_OIDC_SCOPES: 'profile' }, /^TAILRACE_OIDC_SCOPES.*openid/],
    ['no secret', { TAILRACE_OIDC_CLIENT_SECRET: '' }, /^TAILRACE_OIDC_CLIENT_SECRET: must be set too/],
    ['no roles', { TAILRACE_ROLES_FILE: '' }, /^TAILRACE_ROLES_FILE: must be set too/],
    [
      'a header of any peer',
      { TAILRACE_TRUSTED_USER_HEADER: 'x-user' },
      /^TAILRACE_TRUST_PROXY: must be set too/,
    ],
  ])('with %s are refused', (_, wrong, fault) => {
    expect(faultsOf({ ...RIGHT, ...wrong })).toEqual([expect.stringMatching(fault)]);
  });

  test('are refused with all faults at once', () => {
    const { TAILRACE_OIDC_ISSUER } = RIGHT;
    expect(faultsOf({ TAILRACE_OIDC_ISSUER })).toHaveLength(4);
    expect(faultsOf(RIGHT)).toEqual([]);
  });
});

describe('a file of roles', () => {
  const path = join(folder.path, 'roles.yaml');
  const faultsOfFile = async (text: string) => {
    await writeFile(path, text);
    const { definitions } = await readDefinitions({ endpointsDir: 'endpoints', sourcesDir: 'sources' });
    const error = await readRoles(path, definitions).then(
      () => undefined,
      (reason: unknown) => reason,
    );
    return error instanceof InputError ? error.faults : [];
  };

  test('with unknown names is refused, each with its line', async () => {
    const faults = await faultsOfFile(
      [
        'a: { groups: [a], scopes: [query], sources: [no.such] }',
        'b: { groups: [b], scopes: [query], endpoints: [no.endpoint] }',
        'c: { groups: [c], scopes: [query], pins: { no_parameter: x } }',
        'd: { scopes: [query] }',
        'e: { addresses: ["*"], scopes: [query] }',
        'f: { groups: [f], scopes: [query], pins: { project: "claim:" } }',
      ].join('\n'),
    );
    const found = [/:1: .*no\.such/, /:2: .*no\.endpoint/, /:3: .*no_parameter/, /:4: d fits nobody/];
    for (const one of [...found, /:5: .*not a mail address/, /:6: .*must name a claim/])
      expect(faults).toContainEqual(expect.stringMatching(one));
    expect(faults).toHaveLength(6);
  });

  test.each([
    ['an unknown scope', 'a: { groups: [a], scopes: [qeury] }', /must be one of query.*"qeury"/],
    ['a claim that is a map', 'a: { claims: { kind: { is: b } }, scopes: [query] }', /a text/],
    ['a pin that is a list', 'a: { groups: [a], scopes: [query], pins: { project: [b] } }', /a text/],
    ['groups that are a text', 'a: { groups: a, scopes: [query] }', /a list of groups/],
    ['an unknown field', 'a: { group: [a], scopes: [query] }', /unknown field "group"/],
    ['a list of roles', '- { groups: [a], scopes: [query] }', /a map of at most 1000 roles/],
    ['no YAML', 'a: {', /:\d+/],
  ])('with %s is refused', async (_, text, fault) => {
    expect(await faultsOfFile(text)).toContainEqual(expect.stringMatching(fault));
  });
});
