import { afterAll, describe, expect, test } from 'vitest';
import { expectError, get, request } from '../support/http.ts';
import { EDGE, idsOf, post, rowsOf, TO_EDGE } from '../support/ingest.ts';
import { PUBLIC_KEY, startTestService } from '../support/service.ts';

const service = await startTestService({ env: { TAILRACE_DEFAULT_PROJECT: 'fallback' } });
afterAll(service.close);
const { url, core } = service;
const EDGE_ID = core.registry.getSource(EDGE).id;
const LOGGED = { message: 'Logged!' };

let projects = 0;
/** A project of its own for each test. */
const newProject = () => `project-${++projects}`;

describe('paths', () => {
  test.each(
    ['/api/logs', '/logs', '/api/events'].flatMap((path) => [path, `${path}/json`, `${path}/vector`]),
  )('%s takes events', async (path) => {
    const project = newProject();
    const answer = await post(url, `${path}?source_name=${EDGE}`, [{ id: '1', project }]);
    expect([answer.status, answer.body]).toEqual([200, LOGGED]);
    expect(await idsOf(core, project)).toEqual(['1']);
  });

  test('other methods are told which are allowed', async () => {
    for (const method of ['GET', 'PUT', 'DELETE']) {
      const answer = await request(url, TO_EDGE, { method });
      expectError(answer, 'method_not_allowed');
      expect(answer.headers.get('allow')).toBe('POST, OPTIONS');
    }
  });
});

describe('the source', () => {
  test.each([
    ['source_name', `?source_name=${EDGE}`, {}],
    ['collection_name', `?collection_name=${EDGE}`, {}],
    ['source', `?source=${EDGE_ID}`, {}],
    ['source in capitals', `?source=${EDGE_ID.toUpperCase()}`, {}],
    ['collection', `?collection=${EDGE_ID}`, {}],
    ['X-Source', '', { 'x-source': EDGE_ID }],
    ['X-Collection', '', { 'x-collection': EDGE }],
    ['a name and a UUID that agree', `?source=${EDGE_ID}&source_name=${EDGE}`, {}],
    ['one name twice', `?source=${EDGE_ID}&source=${EDGE_ID}`, {}],
  ])('is named by %s', async (_, query, headers) => {
    const project = newProject();
    expect((await post(url, `/logs${query}`, [{ id: '1', project }], headers)).status).toBe(200);
    expect(await idsOf(core, project)).toEqual(['1']);
  });

  test.each(['source', 'source_name', 'collection', 'collection_name'])(
    'is named by %s beside the batch in the body',
    async (field) => {
      const project = newProject();
      const value = field.endsWith('name') ? EDGE : EDGE_ID;
      const answer = await post(url, '/logs', { [field]: value, batch: [{ id: '1', project }] });
      expect([answer.status, answer.body]).toEqual([200, LOGGED]);
      expect(await idsOf(core, project)).toEqual(['1']);
    },
  );

  test('named in the query string makes a member `source` of one event a datum', async () => {
    const project = newProject();
    expect((await post(url, TO_EDGE, { id: '1', project, source: 'nginx' })).status).toBe(200);
    const [row] = await rowsOf(core, project, { columns: 'attributes' });
    expect(row).toEqual({ attributes: '{"source":"nginx"}' });
  });

  test.each([
    ['in the query string', `?source=${EDGE_ID}&source_name=postgres.logs`, {}, []],
    ['under one name', `?source_name=${EDGE}&source_name=postgres.logs`, {}, []],
    ['in the headers', '', { 'x-source': EDGE, 'x-collection': 'postgres.logs' }, []],
    ['in the body', '', {}, { source: EDGE_ID, source_name: 'postgres.logs', batch: [] }],
  ])('named twice and differently %s is refused', async (_, query, headers, body) => {
    const answer = await post(url, `/logs${query}`, body, headers);
    expectError(answer, 'invalid_request');
    expect(answer.body.error.message).toBe(
      `the request names two sources, ${EDGE} and postgres.logs; name one`,
    );
  });

  test.each(['[]', '['])(
    'that does not exist is 404, with those that do, whatever the body: %s',
    async (body) => {
      const answer = await post(url, '/logs?source_name=no.such', body);
      expectError(answer, 'source_not_found');
      expect(answer.body.error.message).toMatch(
        /"no\.such"; there are cloudflare\.logs\.prod, .*; each is a file of TAILRACE_SOURCES_DIR$/,
      );
    },
  );

  test.each([[{ source: 5, batch: [] }], [[{ source: EDGE_ID }]], [{ message: 'a' }]])(
    'that %j does not name is asked for',
    async (body) => {
      const answer = await post(url, '/logs?source=', body);
      expectError(answer, 'invalid_request');
      expect(answer.body.error.message).toMatch(/^name a source: \?source_name=/);
    },
  );
});

describe('the body', () => {
  const one = (project: string) => `{"id":"1","project":"${project}"}`;
  const two = (project: string) => `{"id":"2","project":"${project}"}`;

  test.each<[string, string, (project: string) => string, string[]]>([
    ['an array', 'application/json', (p) => `[ ${one(p)} , ${two(p)} ]`, ['1', '2']],
    ['a batch', 'application/json', (p) => `{"batch":[${one(p)},${two(p)}]}`, ['1', '2']],
    [
      'the last of two batches',
      'application/json',
      (p) => `{"batch":[${one(p)}],"batch":[${two(p)}]}`,
      ['2'],
    ],
    ['a batch under an escaped name', 'application/json', (p) => `{"b\\u0061tch":[${one(p)}]}`, ['1']],
    ['one event', 'application/json', one, ['1']],
    [
      'one event whose member `batch` is no list',
      'application/json',
      (p) => `{"batch":1,"id":"1","project":"${p}"}`,
      ['1'],
    ],
    ['lines', 'application/x-ndjson', (p) => `${one(p)}\n${two(p)}\n`, ['1', '2']],
    [
      'lines without the last newline, with empty ones',
      'application/ndjson',
      (p) => `\n${one(p)}\r\n \n${two(p)}`,
      ['1', '2'],
    ],
    ['a type ending in +json', 'application/vnd.logs.v2+json', (p) => `[${one(p)}]`, ['1']],
    ['a charset', 'application/json; charset=utf-8', (p) => `[${one(p)}]`, ['1']],
    ['a quoted charset in capitals', 'Application/JSON ;charset="UTF-8"', (p) => `[${one(p)}]`, ['1']],
    ['lines with a charset', 'application/x-ndjson; charset=UTF-8', one, ['1']],
  ])('may be %s', async (_, type, write, ids) => {
    const project = newProject();
    const answer = await post(url, TO_EDGE, write(project), { 'content-type': type });
    expect([answer.status, answer.body]).toEqual([200, LOGGED]);
    expect(await idsOf(core, project)).toEqual(ids);
  });

  test.each([
    ['[]', 'application/json'],
    ['{"batch":[]}', 'application/json'],
    ['', 'application/x-ndjson'],
    ['\n\n', 'application/x-ndjson'],
  ])('%j without events is taken', async (body, type) => {
    const answer = await post(url, TO_EDGE, body, { 'content-type': type });
    expect([answer.status, answer.body]).toEqual([200, LOGGED]);
  });

  test.each([
    'text/plain',
    'application/x-www-form-urlencoded',
    'application/jsonx',
    'json',
    'application/xml',
  ])('of type %s is 415', async (type) => {
    expectError(await post(url, TO_EDGE, '[]', { 'content-type': type }), 'unsupported_media_type');
  });

  test('without a type is 415, and none at all is 400', async () => {
    const untyped = new Uint8Array(Buffer.from('[]'));
    expectError(await request(url, TO_EDGE, { method: 'POST', body: untyped }), 'unsupported_media_type');
    const none = await request(url, TO_EDGE, { method: 'POST' });
    expectError(none, 'invalid_request');
    expect(none.body.error.message).toMatch(/^the body is missing/);
  });
});

describe('events', () => {
  test('that are refused are told by number and reason, with 406, and the others are stored', async () => {
    const project = newProject();
    const now = service.clock.now;
    const at = (ms: number) => new Date(now + ms).toISOString();
    const answer = await post(url, TO_EDGE, [
      { id: '1', project },
      'text',
      null,
      [{ id: '4', project }],
      { id: '5', project, timestamp: 'yesterday' },
      { id: '6', project, timestamp: at(3_600_001) },
      { id: '7', project, timestamp: at(3_600_000) },
      { id: '8', project, timestamp: at(-36_500 * 86_400_000) },
    ]);
    expect(answer.status).toBe(406);
    expect(answer.body).toEqual({
      message: [
        'event 2: is not a JSON object',
        'event 3: is not a JSON object',
        'event 4: is not a JSON object',
        expect.stringMatching(/^event 5: has a timestamp that is neither ISO 8601/),
        expect.stringMatching(/^event 6: has a timestamp more than an hour ahead: \d/),
        expect.stringMatching(/^event 8: is older than the 36500 days that cloudflare\.logs\.prod keeps: \d/),
      ],
    });
    expect(await idsOf(core, project)).toEqual(['1', '7']);
  });

  test('as lines are refused one by one, a bad line like a bad event', async () => {
    const project = newProject();
    const body = `nonsense\n{"id":"2","project":"${project}"}\n\u00a0\n{"id":"4","proj`;
    const answer = await post(url, TO_EDGE, body, { 'content-type': 'application/x-ndjson' });
    expect([answer.status, answer.body]).toEqual([
      406,
      { message: [1, 3, 4].map((number) => `event ${number}: is not valid JSON`) },
    ]);
    expect(await idsOf(core, project)).toEqual(['2']);
  });

  test('refused by the thousand are told to a bound, then counted', async () => {
    const answer = await post(url, TO_EDGE, Array(2_500).fill(0));
    const { message } = answer.body as unknown as { message: string[] };
    expect([answer.status, message.length, message[999], message[1000]]).toEqual([
      406,
      1001,
      'event 1000: is not a JSON object',
      'and 1500 more',
    ]);
  });

  test('come back through logs.all as they came', async () => {
    const project = newProject();
    const metadata =
      '{"z":null,"a.b":[],"2":{},"1":12345678901234567890,"e":1.50e+400,"__proto__":{"x":1},"d":1,"d":2,' +
      '"s":"\\u0041\\/\\ud83d\\ude00\\u0000é😀","constructor":{"prototype":null}}';
    const micros = service.clock.now * 1000 - 123;
    const body = `[{"id":"é/1","timestamp":${micros},"project":"${project}","event_message":"GET | \\u0000 é","metadata": ${metadata} }]`;
    expect((await post(url, TO_EDGE, body)).status).toBe(200);
    const { text } = await get(url, `/api/endpoints/query/logs.all?project=${project}`);
    expect(text).toBe(
      `{"result":[{"id":"é/1","timestamp":${micros},"event_message":"GET | \\u0000 é","metadata":${metadata}}]}`,
    );
  });

  test('without id and time get a UUIDv7 and the time of arrival', async () => {
    const project = newProject();
    await post(url, TO_EDGE, [{ project }, { project }]);
    const rows = await rowsOf(core, project, { columns: 'id, toUnixTimestamp64Micro(timestamp) AS at' });
    const v7 = expect.stringMatching(/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
    const at = service.clock.now * 1000;
    expect(rows).toEqual([
      { id: v7, at },
      { id: v7, at },
    ]);
    expect(rows[0]?.['id']).not.toBe(rows[1]?.['id']);
  });
});

describe('the project of an event', () => {
  test('is its own, else that of X-Project, else the default', async () => {
    const [own, header] = [newProject(), newProject()];
    const events = [{ id: own, project: own }, { id: header }, { id: `${header}-number`, project: 5 }];
    await post(url, TO_EDGE, events, { 'x-project': header });
    await post(url, TO_EDGE, [{ id: `${header}-default` }]);
    expect(await idsOf(core, own)).toEqual([own]);
    expect(await idsOf(core, header)).toEqual([header, `${header}-number`]);
    expect(await idsOf(core, 'fallback')).toContain(`${header}-default`);
  });
});

describe('keys', () => {
  test('the public key may send events', async () => {
    const project = newProject();
    const answer = await post(url, TO_EDGE, [{ id: '1', project }], { 'x-api-key': PUBLIC_KEY });
    expect([answer.status, await idsOf(core, project)]).toEqual([200, ['1']]);
  });

  test.each([['query'], ['manage']] as const)('a key for %s may not', async (scope) => {
    const project = newProject();
    const { key } = await service.service.keyring.create({ name: 'k', scopes: [scope] });
    expectError(await post(url, TO_EDGE, [{ id: '1', project }], { 'x-api-key': key }), 'forbidden');
    expect(await idsOf(core, project)).toEqual([]);
  });

  test.each([
    ['no key', ''],
    ['a wrong key', 'nobody'],
  ])('with %s nothing is told but that', async (_, key) => {
    const answer = await post(url, '/logs?source_name=no.such', 'x', {
      'x-api-key': key,
      'content-type': 'a/b',
    });
    expectError(answer, 'unauthorized');
  });
});

describe('browsers', () => {
  const origin = 'https://app.example.com';
  const preflight = { origin, 'access-control-request-method': 'POST', 'x-api-key': '' };
  const ask = (path: string, headers: Record<string, string>) =>
    request(url, path, { method: 'OPTIONS', headers });

  test('may ask beforehand, without a key, on every path of ingest', async () => {
    for (const path of ['/api/logs', '/logs/json', '/api/events/vector']) {
      const answer = await ask(path, preflight);
      expect([answer.status, answer.text]).toEqual([204, '']);
      expect(answer.headers.get('access-control-allow-origin')).toBe('*');
      expect(answer.headers.get('access-control-allow-methods')).toBe('POST');
      expect(answer.headers.get('access-control-allow-headers')).toContain('x-api-key');
      expect(answer.headers.has('access-control-allow-credentials')).toBe(false);
    }
  });

  test('may read the answer, also that of a failure', async () => {
    for (const [key, status] of [
      [PUBLIC_KEY, 200],
      ['nobody', 401],
    ] as const) {
      const answer = await post(url, TO_EDGE, [], { origin, 'x-api-key': key });
      expect([answer.status, answer.headers.get('access-control-allow-origin')]).toEqual([status, '*']);
    }
  });

  test('are let in nowhere else', async () => {
    for (const [path, code] of [
      ['/api/endpoints/query/logs.all', 'method_not_allowed'],
      ['/metrics', 'method_not_allowed'],
      ['/nowhere', 'not_found'],
      ['/api/logs/other', 'not_found'],
    ] as const) {
      const answer = await ask(path, preflight);
      expectError(answer, code);
      expect(answer.headers.has('access-control-allow-origin')).toBe(false);
    }
    const read = await get(url, '/api/endpoints/query/logs.all?project=p', { origin });
    expect([read.status, read.headers.has('access-control-allow-origin')]).toEqual([200, false]);
  });

  test('get the same answer when they leave the headers of a preflight out', async () => {
    expect((await ask('/api/logs', { 'x-api-key': '' })).status).toBe(204);
  });
});
