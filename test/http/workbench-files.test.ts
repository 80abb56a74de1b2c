import { cp, mkdir, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { expectError, get, post as send } from '../support/http.ts';
import { ownFolder, ownService, PRIVATE_KEY } from '../support/service.ts';

// Files of alerts, dashboards and searches are saved in the same way; those of searches are beside the endpoints.
const folder = await ownFolder();
const dirOf = (kind: string) => join(folder.path, kind);
for (const kind of ['alerts', 'dashboards', 'searches']) await mkdir(dirOf(kind));
await cp('template/endpoints', dirOf('endpoints'), { recursive: true });
const receivers = 'ops: { kind: slack, url: "https://hooks.slack.com/services/x" }\n';
await writeFile(dirOf('receivers'), receivers, { mode: 0o600 });
const service = await ownService({
  env: {
    TAILRACE_ENDPOINTS_DIR: dirOf('endpoints'),
    TAILRACE_ALERTS_DIR: dirOf('alerts'),
    TAILRACE_DASHBOARDS_DIR: dirOf('dashboards'),
    TAILRACE_RECEIVERS_FILE: dirOf('receivers'),
    TAILRACE_EDIT_ENDPOINTS: '1',
  },
});

const ALERT = `name: made.here
description: Paths fail.
endpoint: failing.paths
parameters: { project: aurora }
every: 60
when: { column: failures, above: 3 }
per: [path]
text: "{{ path }} failed"
to: [ops]
`;
const DASHBOARD = `name: made.here
title: Made here
description: Paths fail.
rows:
  - panels: [{ endpoint: failing.paths }]
`;
const SEARCH = `name: made.here
title: Made here
description: Paths fail.
search: { q: "level:error path:/rest/*", source: logs, range: 24h, by: path }
`;

const post = (path: string, body: object, key = PRIVATE_KEY) =>
  send<Record<string, unknown>>(service.url, `/api/workbench/${path}`, body, { 'x-api-key': key });

describe.each([
  ['alerts', 'alert', ALERT, 'failing.paths'],
  ['dashboards', 'dashboard', DASHBOARD, 'failing.paths'],
  ['searches', 'search', SEARCH, 'logs'],
])('the file of %s', (kind, one, good, named) => {
  const save = (definition: string, version: string | null = null, name = 'made.here', key?: string) =>
    post(`${kind}/save`, { name, definition, version }, key);
  const fileOf = (name: string) => join(dirOf(kind), `${name}.yaml`);
  const read = async () => (await get(service.url, `/api/workbench/${kind}/made.here`)).body as unknown;

  test('is written with an id, served, and changed by those who have read it', async () => {
    const made = await save(good);
    expect([made.status, made.body]).toEqual([200, { name: 'made.here', version: expect.any(String) }]);
    const { version } = made.body;
    const definition = await readFile(fileOf('made.here'), 'utf8');
    expect(definition).toMatch(/^id: [0-9a-f-]{36}\nname: made\.here\n/);
    expect((await get(service.url, `/api/${kind}`)).body.result).toMatchObject([{ name: 'made.here' }]);
    expect(await read()).toEqual({ name: 'made.here', definition, version, may_edit: true });
    const first = await save(definition.replace('Paths fail', 'First'), String(version));
    expect(first.status).toBe(200);
    expectError(await save(definition.replace('Paths fail', 'Second'), String(version)), 'conflict');
    expectError(await save(good), 'conflict');
    expect(await readFile(fileOf('made.here'), 'utf8')).toContain('description: First');
    expect(await readdir(dirOf(kind))).toEqual(['made.here.yaml']);
    const detail = `${one} made.here ${first.body['version']}`;
    const entry = expect.objectContaining({ action: 'saved', actor: 'private', detail });
    expect(await service.service.keyring.log({ limit: 1000 })).toContainEqual(entry);
  });

  test('is not written with faults, beside another file with faults, or through a link', async () => {
    const fresh = good.replace('made.here', 'fresh');
    const faulty = await save(fresh.replace(named, 'gone'), null, 'fresh');
    expectError(faulty, 'invalid_definition');
    // The line of the text that was sent, which has no id yet.
    const line = fresh.split('\n').findIndex((one) => one.includes(named)) + 1;
    expect(faulty.body.error?.errors).toEqual([expect.objectContaining({ line })]);
    await writeFile(fileOf('broken'), 'name: 1\n');
    const answer = await save(fresh, null, 'fresh');
    await rm(fileOf('broken'));
    expectError(answer, 'invalid_definition', 'broken.yaml:1');
    expect(answer.text).not.toContain(folder.path);
    await symlink(dirOf('elsewhere'), fileOf('fresh'));
    expectError(await save(fresh, null, 'fresh'), 'forbidden');
    await rm(fileOf('fresh'));
    expect(await readdir(folder.path)).not.toContain('elsewhere');
    expect(await readdir(dirOf(kind))).toEqual(['made.here.yaml']);
  });

  test('is neither read nor written by a limited key', async () => {
    const key = await service.newKey({ scopes: ['query', 'manage'], pins: { project: 'aurora' } });
    const headers = { 'x-api-key': key };
    expectError(await get(service.url, `/api/workbench/${kind}/made.here`, headers), 'forbidden');
    expectError(await save(good.replace('made.here', 'x'), null, 'x', key), 'forbidden');
    expectError(await post(`${kind}/check`, { definition: good }, key), 'forbidden');
  });
});

test('an alert is tried over the last week, also on an endpoint that is not saved', async () => {
  const definition = `name: fresh
description: Requests.
max_rows: 10
caching: disabled
columns:
  requests: { type: integer, description: Their number. }
`;
  const endpoint = { definition, sql: 'SELECT count() AS requests FROM edge_logs' };
  const alert = ALERT.replace(/^(parameters|per): .*\n/gm, '').replace('{{ path }}', '{{ requests }}');
  const onFresh = alert.replace('failing.paths', 'fresh').replace('failures', 'requests');
  const onRows = onFresh.replace('column: requests', 'column: rows');
  const attempt = (body: object) => post('alerts/try', body);
  const tried = await attempt({ definition: onFresh.replace('above: 3', 'below: 3'), endpoint });
  const body = { fired: 1, failures: 0, messages: [{ status: 'firing' }] };
  expect(tried).toMatchObject({ status: 200, body });
  for (const [body, message] of [
    [{ definition: onFresh }, 'no endpoint is called "fresh"'],
    [{ definition: onRows, endpoint }, 'fresh has no column "rows"'],
    [{ definition: onFresh, endpoint: { ...endpoint, sql: 'SELECT 1 AS other' } }, 'requests'],
  ] as const) {
    expectError(await attempt(body), 'invalid_definition', message);
  }
});

describe('a saved search', () => {
  const check = async (search: string) => {
    const { body } = await post('searches/check', { definition: `name: a\ntitle: A\nsearch: ${search}\n` });
    return (body['errors'] as { message: string; line?: number }[]).map(({ message }) => message);
  };

  test.each([
    ['{ q: "(a" }', '"q" has ( without )'],
    ['{ q: "level:loud" }', '"q" has the unknown level "loud"'],
    ['{ by: "a b" }', '"by" must be a field'],
    ['{ measure: "p98(a)" }', '"measure" must be one of count, avg(field)'],
    ['{ source: "logs,nowhere" }', '"source" names no source "nowhere"; there are'],
    ['{ top: 51 }', '"top" must be from 1 to 50'],
    ['{ from: 2026-11-01T00:00:00Z, until: yesterday }', '"until" must be'],
    ['{ from: 2026-11-01T00:00:00Z }', '"from" needs "until"'],
    ['{ range: yesterday }', '"range" must be a length of at most ten years, such as 40m'],
    ['{ range: 99999d }', '"range" must be'],
    ['{ view: pattern }', 'lines, patterns, compare, timeline'],
    ['{ order: up }', 'newest, oldest'],
    ['{ compare: all }', 'errors, search, range'],
    ['{ by: timestamp }', '"by" must be another field than timestamp'],
    ['{ by: count }', '"by" must not be the column "count" of the answer; write metadata.count'],
    ['{ by: other, top: 3 }', '"by" must not be the column "other"'],
    ['{ by: "headers.\\"a b\\"" }', '"by" must have only letters'],
    ['{ columns: "level,a b" }', '"columns" must be a field'],
    ['{ mark: 2026-11-01T00:00:00Z }', '"mark" must be two instants'],
    ['{ query: a }', 'query'],
  ])('of %s has a fault', async (search, message) => {
    expect(await check(search)).toEqual([expect.stringContaining(message)]);
    expect(await check('{ q: "a b", measure: p95(a), range: 1h, top: 5 }')).toEqual([]);
  });

  test('may have all that the address of Explore has', async () => {
    const day = (hour: string) => `2026-11-20T${hour}:00:00.000Z`;
    const search = {
      ...{ q: 'a', by: 'level', view: 'compare', compare: 'range', order: 'oldest', range: '2w' },
      ...{ from: day('07'), until: day('09'), mark: `${day('07')}/${day('08')}` },
      columns: ' level,request.path,headers."a,b",',
    };
    expect(await check(JSON.stringify(search))).toEqual([]);
  });

  test('names its sources as a search does', async () => {
    const { id } = service.core.registry.findSource('logs') ?? {};
    const source = ` logs, ${id?.toUpperCase()},`;
    expect(await check(JSON.stringify({ source }))).toEqual([]);
  });

  test('is listed for keys that may run it', async () => {
    const other = 'id: a0000000-0000-4000-8000-000000000001\nname: other\ntitle: Other\n';
    await writeFile(join(dirOf('searches'), 'other.yaml'), `${other}search: { project: aurora }\n`);
    await service.core.reload();
    const named = async (grant: object) => {
      const headers = { 'x-api-key': await service.newKey(grant) };
      const { body } = await get(service.url, '/api/searches', headers);
      return body.result.map(({ name }) => name);
    };
    expect(await named({})).toEqual(['made.here', 'other']);
    expect(await named({ sources: ['cloudflare.logs.prod'] })).toEqual(['other']);
    expect(await named({ pins: { project: 'borealis' } })).toEqual(['made.here']);
    expect(await named({ endpoints: ['failing.paths'] })).toEqual([]);
  });
});
