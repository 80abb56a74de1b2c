import type { ServerResponse } from 'node:http';
import { afterAll, afterEach, describe, expect, test } from 'vitest';
import { openServerEngine } from '../../src/engine/server/server.ts';
import { encode, type FrontRequest, fail, reply } from '../../trial/clickhouse-front.ts';
import { startFaultyProxy } from '../../trial/faulty-proxy.ts';
import { faultsIn } from '../support/faults.ts';
import { ownFront } from '../support/front.ts';
import { addressOf } from '../support/server-engine.ts';
import { SERVER_SIZE } from './open.ts';

const TAG = 'qwertyuiopasdfgh';
const UNAVAILABLE = { code: 'engine_unavailable', message: 'the engine is not available' };

const front = await ownFront();
const proxy = await startFaultyProxy(front.port);
const engine = await openServerEngine({
  ...SERVER_SIZE,
  address: addressOf(proxy.url),
  pingPauseMs: 3_600_000, // a ping would take a fault that is meant for a request; server-away.timed.test.ts has them
});
await engine.command(
  `CREATE TABLE rows (id Int64) ENGINE = MergeTree ORDER BY id SETTINGS non_replicated_deduplication_window = 100`,
);
front.requests.length = 0;
afterEach(() => {
  front.intercept = undefined;
  proxy.fault = { kind: 'none' };
  front.requests.length = 0;
});
afterAll(async () => {
  await engine.close();
  await proxy.close();
});

const ask = async (sql: string, values = {}) =>
  (await engine.query(sql, values, { format: 'TSVRaw' })).bytes.toString();
const ROWS = { table: 'rows', columns: ['id'], format: 'JSONCompactEachRow' } as const;
const insert = (id: number) => engine.insert({ ...ROWS, bytes: Buffer.from(`[${id}]\n`) });
const countOf = (id: number) => ask('SELECT count() FROM rows WHERE id = @id::Int64', { id: String(id) });

/** Answers the next requests instead of the engine, one answer for each; later ones go through. */
function answerNext(...answers: ((request: FrontRequest, response: ServerResponse) => unknown)[]): void {
  front.intercept = (request, response) => {
    const next = answers.shift();
    next?.(request, response);
    return next !== undefined;
  };
}

test('a request has its values bound by the server, its limits, the right to read only, and its origin', async () => {
  const options = { format: 'TSVRaw', origin: 'logs.all request-1' } as const;
  await engine.query('SELECT @a, @b, @a', { a: "it's", b: 'x' }, options);
  const [request] = front.requests;
  expect(request?.sql).toBe('SELECT {a:String}, {b:String}, {a:String}');
  expect(Object.fromEntries(request?.values ?? [])).toEqual({ a: "it\\'s", b: 'x' });
  expect(Object.fromEntries(request?.settings ?? [])).toMatchObject({
    ...{ readonly: '1', max_execution_time: '121', max_result_bytes: '1048576' },
    log_comment: 'logs.all request-1',
  });
  expect(request?.http.get('cancel_http_readonly_queries_on_client_close')).toBe('1');
  const a = 'x'.repeat(5_000); // too long for an address
  expect(await ask('SELECT @a', { a })).toBe(`${a}\n`);
  expect(front.requests[1]?.values.size).toBe(0);
});

describe('an answer', () => {
  test('that ends in an error is that error, and none of its rows', async () => {
    const text =
      'Code: 395. DB::Exception: What it says. (FUNCTION_THROW_IF_VALUE_IS_NON_ZERO) (version 26.3.1.1)';
    const late = `1\n2\n\r\n__exception__\r\n${TAG}\r\n${text}\n${text.length + 1} ${TAG}\r\n__exception__\r\n`;
    answerNext((request, response) => {
      response.setHeader('x-clickhouse-exception-tag', TAG);
      response.end(encode(request, response, Buffer.from(late)));
    });
    await expect(ask('SELECT 1')).rejects.toMatchObject({ code: 'query_failed', message: 'What it says.' });
    expect(front.requests).toHaveLength(1);
  });

  test('with rows that look like an error is an answer', async () => {
    const text = 'Code: 159. DB::Exception: x\r\n__exception__\r\n';
    expect(await ask('SELECT @text', { text })).toBe(`${text}\n`);
  });

  test.each(['plain', 'compressed'])('that was cut off is asked for again, %s', async (kind) => {
    const cut = (request: FrontRequest, response: ServerResponse) => {
      const whole = Buffer.from('wrong\n'.repeat(10_000));
      const bytes = kind === 'plain' ? whole : encode(request, response, whole);
      response.write(bytes.subarray(0, bytes.length - 5), () => response.destroy());
    };
    answerNext(cut, cut);
    expect(await ask('SELECT 1')).toBe('1\n');
    answerNext(cut, cut, cut);
    await expect(ask('SELECT 1')).rejects.toMatchObject({ ...UNAVAILABLE, retryAfterSeconds: 1 });
  });

  test('of a proxy that answers in the server’s place is neither rows nor word of events stored', async () => {
    const page = (_request: FrontRequest, response: ServerResponse) =>
      response.writeHead(200, { 'content-type': 'text/html' }).end('<h1>Back soon</h1>\n');
    answerNext(page);
    await expect(ask('SELECT 1')).rejects.toMatchObject(UNAVAILABLE);
    answerNext(page);
    await expect(insert(7)).rejects.toMatchObject(UNAVAILABLE);
    expect(await countOf(7)).toBe('0\n');
  });
});

describe('a connection', () => {
  test.each([0, 20])(
    'that breaks after %d bytes of the answer to an insert stores its rows once',
    async (afterBytes) => {
      const id = 100 + afterBytes;
      proxy.fault = { kind: 'cut', afterBytes, times: 2 };
      await insert(id);
      expect(front.requests.filter(({ sql }) => sql.startsWith('INSERT'))).toHaveLength(3);
      expect(await countOf(id)).toBe('1\n');
    },
  );

  test('that breaks under a statement that changes tables does not make it come twice', async () => {
    proxy.fault = { kind: 'cut', afterBytes: 0, times: 1 };
    const command = engine.command('CREATE TABLE once (id Int64) ENGINE = MergeTree ORDER BY id');
    await expect(command).rejects.toMatchObject({ code: 'engine_unavailable' });
    expect(front.requests).toHaveLength(1);
  });
});

test('a caller that disconnects ends its query on the server by KILL with its id', async () => {
  const held = Promise.withResolvers<boolean>();
  front.intercept = ({ sql }) => (sql === 'SELECT 1' ? held.promise : false);
  const hangUp = new AbortController();
  const query = engine.query('SELECT 1', {}, { format: 'TSVRaw', signal: hangUp.signal });
  await expect.poll(() => front.requests).toHaveLength(1);
  const id = front.requests[0]?.queryId;
  hangUp.abort(new Error('hung up'));
  await expect(query).rejects.toThrow('hung up');
  const kill = `KILL QUERY WHERE query_id = '${id}' SYNC`;
  await expect.poll(() => front.requests.map(({ sql }) => sql)).toContain(kill);
  held.resolve(true);
  await expect.poll(() => engine.gauges().running).toBe(0);
});

const open = (url = front.url, more = {}) =>
  openServerEngine({ ...SERVER_SIZE, address: { ...addressOf(url), ...more } });

/** Answers what the pattern matches with a text, as the server would. */
function answer(sql: RegExp, text: string): void {
  front.intercept = (request, response) => {
    if (!sql.test(request.sql)) return false;
    reply(request, response, Buffer.from(text));
    return true;
  };
}

test('a server of 26.3 or later is accepted, an earlier one is rejected', async () => {
  answer(/version\(\)/, '26.10.1.1\n');
  await (await open()).close();
  answer(/version\(\)/, '26.2.9.9\n');
  const why = `the server at ${front.url} is ClickHouse 26.2.9.9; Tailrace needs 26.3 or later`;
  expect((await faultsIn(open)).join()).toContain(`CLICKHOUSE_URL: ${why}`);
});

test.each([
  ['owner', 'CLICKHOUSE_URL'],
  ['reader', 'CLICKHOUSE_READ_USER'],
])('a wrong password of the %s is reported, and never shown', async (who, setting) => {
  front.intercept = (request, response) => {
    if (request.user !== who) return false;
    const text = `Code: 516. DB::Exception: ${who}: Authentication failed: password is incorrect. (AUTHENTICATION_FAILED)`;
    fail(request, response, text, 403);
    return true;
  };
  const accounts = { user: 'owner', password: 's3cret', readUser: 'reader', readPassword: 's3cret' };
  const [user, readUser] = who === 'owner' ? ['owner', 'other'] : ['other', 'reader'];
  const faults = (await faultsIn(() => open(front.url, { ...accounts, user, readUser }))).join();
  const why = `the server at ${front.url} rejects the user ${who}: wrong user or password`;
  expect(faults).toContain(`${setting}: ${why}`);
  expect(faults).not.toContain('s3cret');
});
