import type { ServerResponse } from 'node:http';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import type { Engine } from '../../src/engine/engine.ts';
import { openServerEngine } from '../../src/engine/server/server.ts';
import { encode, type FrontRequest, fail, startClickHouseFront } from '../../trial/clickhouse-front.ts';
import { startFaultyProxy } from '../../trial/faulty-proxy.ts';
import { addressOf } from '../support/server-engine.ts';
import { temporaryFolder } from '../support/service.ts';

const SIZE = {
  readers: 2,
  queueMax: 10,
  queuePerLaneMax: 10,
  queueTimeoutMs: 10_000,
  limits: { timeoutMs: 5_000, memoryBytesMax: 256 * 1024 ** 2, resultBytesMax: 1024 ** 2 },
};
const TAG = 'qwertyuiopasdfgh';

const folder = await temporaryFolder();
const front = await startClickHouseFront(join(folder.path, 'clickhouse'));
const proxy = await startFaultyProxy(front.port);
const open = (timeoutMs = SIZE.limits.timeoutMs) =>
  openServerEngine({
    ...SIZE,
    limits: { ...SIZE.limits, timeoutMs },
    address: addressOf(proxy.url),
    cluster: '',
    pingPauseMs: 3_600_000, // a ping would take a fault that is meant for a request; server-away.timed.test.ts has them
  });
let engine: Engine;
beforeAll(async () => {
  engine = await open();
  await engine.command(
    `CREATE TABLE rows (id Int64) ENGINE = MergeTree ORDER BY id SETTINGS non_replicated_deduplication_window = 100`,
  );
  front.requests.length = 0;
});
afterEach(() => {
  front.intercept = undefined;
  proxy.fault = { kind: 'none' };
  front.requests.length = 0;
});
afterAll(async () => {
  await engine.close();
  await proxy.close();
  await front.close();
  await folder.remove();
});

const ask = async (sql: string, values = {}) =>
  (await engine.query(sql, values, { format: 'TSVRaw' })).bytes.toString();
const insert = (id: number) =>
  engine.insert({
    table: 'rows',
    columns: ['id'],
    format: 'JSONCompactEachRow',
    bytes: Buffer.from(`[${id}]\n`),
  });
const countOf = (id: number) => ask('SELECT count() FROM rows WHERE id = @id::Int64', { id: String(id) });

/** Answers the next requests instead of the engine, one answer for each; later ones go through. */
function answerNext(...answers: ((request: FrontRequest, response: ServerResponse) => unknown)[]): void {
  front.intercept = (request, response) => {
    const next = answers.shift();
    if (next === undefined) return false;
    next(request, response);
    return true;
  };
}

describe('a request', () => {
  test('has its values bound by the server, its limits, the right to read only, and its origin', async () => {
    const options = { format: 'TSVRaw', origin: 'logs.all request-1' } as const;
    await engine.query('SELECT @a, @b, @a', { a: "it's", b: 'x' }, options);
    const [request] = front.requests;
    expect(request?.sql).toBe('SELECT {a:String}, {b:String}, {a:String}');
    expect(Object.fromEntries(request?.values ?? [])).toEqual({ a: "it\\'s", b: 'x' });
    expect(Object.fromEntries(request?.settings ?? [])).toMatchObject({
      readonly: '1',
      max_execution_time: '6',
      max_result_bytes: '1048576',
      log_comment: 'logs.all request-1',
    });
    expect(request?.http.get('cancel_http_readonly_queries_on_client_close')).toBe('1');
    expect(request?.queryId).toMatch(/^[\da-f-]{36}$/);
  });

  test('quotes values that are too long for an address', async () => {
    const a = 'x'.repeat(5_000);
    expect(await ask('SELECT @a', { a })).toBe(`${a}\n`);
    expect(front.requests[0]?.values.size).toBe(0);
  });

  test('is answered compressed, and rows are sent compressed', async () => {
    await insert(1);
    expect(await countOf(1)).toBe('1\n');
    expect(front.requests[0]?.headers['content-encoding']).toBe('zstd');
    expect(front.requests[1]?.headers['accept-encoding']).toBe('zstd');
  });

  test('goes over the connection of the one before', async () => {
    const ports = new Set<number | undefined>();
    front.intercept = (_request, response) => {
      ports.add(response.req.socket.remotePort);
      return false;
    };
    for (let i = 0; i < 5; i++) await ask('SELECT 1');
    expect(ports.size).toBe(1);
  });
});

describe('an answer', () => {
  const late = (code: number, name: string) => {
    const text = `Code: ${code}. DB::Exception: What it says. (${name}) (version 26.3.1.1 (official build))`;
    return `\r\n__exception__\r\n${TAG}\r\n${text}\n${text.length + 1} ${TAG}\r\n__exception__\r\n`;
  };
  const broken = (text: string) => (request: FrontRequest, response: ServerResponse) => {
    response.setHeader('x-clickhouse-exception-tag', TAG);
    response.end(encode(request, response, Buffer.from(`1\n2\n${text}`)));
  };

  test.each([
    [395, 'FUNCTION_THROW_IF_VALUE_IS_NON_ZERO', 'query_failed', 'What it says.'],
    [159, 'TIMEOUT_EXCEEDED', 'query_timeout', 'the query took longer than allowed and was stopped'],
    [
      202,
      'TOO_MANY_SIMULTANEOUS_QUERIES',
      'overloaded',
      'the engine has no capacity for now; try again later',
    ],
  ])('that ends in error %d is that error, and none of its rows', async (number, name, code, message) => {
    answerNext(broken(late(number, name)));
    await expect(ask('SELECT 1')).rejects.toMatchObject({ code, message });
    expect(front.requests).toHaveLength(1);
  });

  test('that is cut within the error is still that error', async () => {
    const text = late(395, 'FUNCTION_THROW_IF_VALUE_IS_NON_ZERO');
    answerNext((_request, response) => {
      response.setHeader('x-clickhouse-exception-tag', TAG);
      response.write(`1\n${text.slice(0, -30)}`, () => response.destroy());
    });
    await expect(ask('SELECT 1')).rejects.toMatchObject({ code: 'query_failed' });
  });

  test('with rows that look like an error is an answer', async () => {
    const text = 'Code: 159. DB::Exception: x\r\n__exception__\r\n';
    expect(await ask('SELECT @text', { text })).toBe(`${text}\n`);
  });

  test.each(['plain', 'compressed'])('that was cut off is asked for again, %s', async (kind) => {
    const cut = (request: FrontRequest, response: ServerResponse) => {
      const whole = Buffer.from('wrong\n'.repeat(10_000));
      const bytes = kind === 'plain' ? whole : encode(request, response, whole);
      response.write(bytes.subarray(0, bytes.length - 5), () => setTimeout(() => response.destroy(), 20));
    };
    answerNext(cut, cut);
    expect(await ask('SELECT 1')).toBe('1\n');
    answerNext(cut, cut, cut);
    await expect(ask('SELECT 1')).rejects.toMatchObject({ code: 'engine_unavailable', retryAfterSeconds: 1 });
  });

  test('that is no zstd is an error, not an answer', async () => {
    const garbage = (_request: FrontRequest, response: ServerResponse) => {
      response.setHeader('content-encoding', 'zstd').end('no zstd');
    };
    answerNext(garbage, garbage, garbage);
    await expect(ask('SELECT 1')).rejects.toMatchObject({ code: 'engine_unavailable' });
  });

  test('of a proxy that has lost the server is requested again, and never shown', async () => {
    const lost = (status: number) => (_request: FrontRequest, response: ServerResponse) => {
      response
        .writeHead(status, { 'content-type': 'text/html' })
        .end('<h1>Bad gateway of ch-7.internal</h1>');
    };
    answerNext(lost(502), lost(503));
    expect(await ask('SELECT 1')).toBe('1\n');
    answerNext(lost(504), lost(502), lost(503));
    await expect(ask('SELECT 1')).rejects.toMatchObject({
      code: 'engine_unavailable',
      message: 'the engine is not available',
    });
    answerNext(lost(500));
    await expect(ask('SELECT 1')).rejects.toMatchObject({ code: 'engine_unavailable' });
  });

  test('of a proxy that answers in the server’s place is neither rows nor word of events stored', async () => {
    const page = (_request: FrontRequest, response: ServerResponse) =>
      response.writeHead(200, { 'content-type': 'text/html' }).end('<h1>Back soon</h1>\n');
    answerNext(page);
    await expect(ask('SELECT 1')).rejects.toMatchObject({ code: 'engine_unavailable' });
    answerNext(page);
    await expect(insert(7)).rejects.toMatchObject({ code: 'engine_unavailable' });
    expect(await countOf(7)).toBe('0\n');
  });

  test('with an error of the server’s own state is engine_unavailable', async () => {
    const text =
      'Code: 516. DB::Exception: x: Authentication failed. (AUTHENTICATION_FAILED) (version 26.3.1.1)';
    answerNext((request, response) => fail(request, response, text, 403));
    await expect(ask('SELECT 1')).rejects.toMatchObject({ code: 'engine_unavailable' });
  });

  test('that never ends is not read beyond the bound', async () => {
    answerNext((_request, response) => {
      const more = () => response.write('x'.repeat(65_536), (error) => error ?? setImmediate(more));
      more();
    });
    await expect(ask('SELECT 1')).rejects.toMatchObject({
      code: 'query_failed',
      message: 'the answer is larger than 1048576 bytes; ask for less',
    });
  });
});

describe('a connection', () => {
  test('that is slow changes no answer', async () => {
    proxy.fault = { kind: 'delay', ms: 50 };
    expect(await ask('SELECT 1')).toBe('1\n');
  });

  test('that is reset while idle is opened again', async () => {
    expect(await ask('SELECT 1')).toBe('1\n');
    proxy.reset();
    expect(await ask('SELECT 1')).toBe('1\n');
    await insert(2);
    proxy.reset();
    await insert(3);
    expect([await countOf(2), await countOf(3)]).toEqual(['1\n', '1\n']);
  });

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

  test('that cannot be opened is engine_unavailable at once, and works again once the server has returned', async () => {
    proxy.fault = { kind: 'refuse' };
    proxy.reset();
    const startedMs = performance.now();
    await expect(ask('SELECT 1')).rejects.toMatchObject({ code: 'engine_unavailable' });
    await expect(insert(4)).rejects.toMatchObject({ code: 'engine_unavailable' });
    expect(performance.now() - startedMs).toBeLessThan(SIZE.limits.timeoutMs);
    proxy.fault = { kind: 'none' };
    expect(await ask('SELECT 1')).toBe('1\n');
    expect(engine.gauges()).toMatchObject({ state: 'up', running: 0, queued: 0 });
  });

  test('without a response is query_timeout', async () => {
    const hasty = await open(300);
    proxy.fault = { kind: 'silent' };
    await expect(hasty.query('SELECT 1', {}, { format: 'TSVRaw' })).rejects.toMatchObject({
      code: 'query_timeout',
      message: 'the query took longer than 300 ms and was stopped',
    });
    proxy.fault = { kind: 'none' };
    proxy.reset();
    await hasty.close();
  });
});

describe('a caller that disconnects', () => {
  const ENDLESS = 'SELECT sum(sipHash64(number)) FROM numbers(1000000000000)';
  const running = async () => {
    const [row] = await engine.inspect(
      `SELECT count() AS n FROM system.processes WHERE query LIKE '%sum(sipHash64%' AND query NOT LIKE '%processes%'`,
    );
    return Number(row?.['n']);
  };

  test('ends its query on the server, also by KILL with its id', async () => {
    const hangUp = new AbortController();
    const query = engine.query(ENDLESS, {}, { format: 'TSVRaw', signal: hangUp.signal });
    await expect.poll(running, { interval: 20, timeout: 30_000 }).toBe(1);
    const id = front.requests.find(({ sql }) => sql === ENDLESS)?.queryId;
    hangUp.abort(new Error('hung up'));
    await expect(query).rejects.toThrow('hung up');
    await expect.poll(running, { interval: 20, timeout: 30_000 }).toBe(0);
    await expect.poll(() => engine.gauges().running, { interval: 20, timeout: 30_000 }).toBe(0);
    expect(front.requests.map(({ sql }) => sql)).toContain(`KILL QUERY WHERE query_id = '${id}' SYNC`);
  });
});
