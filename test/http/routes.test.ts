import { METHODS } from 'node:http';
import { describe, expect, test } from 'vitest';
import { ALLOWED_METHODS, ROUTES } from '../../src/http/routes/index.ts';
import { createSecret, SCOPES, type Scope } from '../../src/keys/grant.ts';
import { ownService, PRIVATE_KEY } from '../support/service.ts';

// Every path is called without a key, too.
const service = await ownService({ bounds: { authFailuresPerMinuteMax: 100_000 } });
const { app, keyring } = service.service;

const STORED = 'logs.all';
/** A URL that a path of the router matches. */
const urlOf = (path: string) => path.replace(':endpoint', STORED).replace(/:\w+|\*/, 'none');
const described = ROUTES.flatMap((route) => route.paths.map((path) => ({ path, route })));

interface Operation {
  readonly security: readonly Readonly<Record<string, readonly string[]>>[];
  readonly responses: Readonly<Record<string, unknown>>;
}

async function readDocument() {
  const answer = await app.inject({ url: '/openapi.json', headers: { 'x-api-key': PRIVATE_KEY } });
  const { paths } = answer.json() as { paths: Record<string, Record<string, Operation>> };
  return Object.entries(paths).flatMap(([path, item]) =>
    Object.entries(item)
      .filter(([method]) => method !== 'parameters')
      .map(([method, operation]) => ({ name: `${method.toUpperCase()} ${path}`, operation })),
  );
}

/** `/api/keys/<id>` of the docs and `/api/keys/{id}` of the document, as the router has it. */
const toPath = (shown: string) => shown.replace('<file>', '*').replaceAll(/[<{](\w+)[>}]/g, ':$1');

describe('the router', () => {
  test('has every path of the definitions, and no other', () => {
    expect(readPaths(app.printRoutes({ commonPrefix: false })).toSorted()).toEqual(
      [...ALLOWED_METHODS.keys()].toSorted(),
    );
  });

  test.each([...ALLOWED_METHODS])(
    'answers 405 with Allow at %s to every method but %j',
    async (path, methods) => {
      const refused: string[] = [];
      for (const method of METHODS.filter((one) => one !== 'CONNECT')) {
        // Node's own names of methods, more than the type of `inject` lists.
        const answer = await app.inject({ method: method as 'GET', url: urlOf(path) });
        if (answer.statusCode !== 405) continue;
        expect(answer.headers['allow']).toBe(methods.join(', '));
        refused.push(method);
      }
      expect(refused.toSorted()).toEqual(
        METHODS.filter((one) => one !== 'CONNECT' && !methods.includes(one)).toSorted(),
      );
    },
  );

  test('asks for a key with one of the scopes, where there are any', async () => {
    const create = async (scope: Scope) => {
      const { key } = await keyring.create({ name: scope, scopes: [scope] });
      return { scope, key };
    };
    const keys = await Promise.all(SCOPES.map(create));
    for (const { path, route } of described) {
      const send = (headers: Record<string, string>) =>
        app.inject({ method: route.method, url: urlOf(path), headers });
      const isOpen = route.scopes === 'none' || route.scopes === 'optional';
      expect([path, (await send({})).statusCode === 401]).toEqual([path, !isOpen]);
      if (route.scopes === 'any') {
        const unknown = await send({ 'x-api-key': createSecret().key });
        expect([path, unknown.statusCode]).toEqual([path, 401]);
      }
      const admitted: Scope[] = [];
      for (const { scope, key } of keys) {
        const answer = await send({ 'x-api-key': key });
        if (answer.statusCode !== 403 || !answer.body.includes('lacks the scope')) admitted.push(scope);
      }
      expect(admitted, path).toEqual(typeof route.scopes === 'string' ? SCOPES : route.scopes);
    }
  });
});

test('/openapi.json has every operation of the definitions, and no other', async () => {
  const endpoints = service.core.registry.endpoints.map(({ name }) => name);
  const expected = described.flatMap(({ path, route: { method, id } }) => {
    if (path.includes(':endpoint') && path.startsWith('/api/'))
      return endpoints.map((name) => `${method} ${path.replace(':endpoint', name)}`);
    return id === undefined ? [] : [`${method} ${path}`];
  });
  const names = (await readDocument()).map(({ name }) => toPath(name));
  expect(names.toSorted()).toEqual(expected.toSorted());
});

/** The paths of Fastify's tree of routes. */
function readPaths(tree: string): string[] {
  const paths: string[] = [];
  const above: string[] = [];
  for (const line of tree.split('\n')) {
    const [, indent = '', part] = /^([│ ]*)[├└]── (.*?)(?: \(.*\))?$/.exec(line) ?? [];
    if (part === undefined) continue;
    const depth = indent.length / 4;
    above[depth] = part;
    const path = above.slice(0, depth + 1).join('');
    // It prints `/assets/*` without the folder.
    if (line.endsWith(')')) paths.push(path === '/*' ? '/assets/*' : path);
  }
  return paths.filter((path) => path !== '*'); // preflights, of @fastify/cors
}
