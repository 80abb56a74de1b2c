import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Engine, QueryLimits, RowFormat } from '../../src/engine/engine.ts';
import { TailraceError } from '../../src/errors.ts';
import { rejectionOf } from '../support/keys.ts';
import { runs } from '../support/property.ts';
import { describeSearches } from './search-contract.ts';

const MIB = 1024 * 1024;

/** How large an engine is opened; each group of tests turns down the limits that it wants to hit. */
export interface EngineSize {
  readonly readers: number;
  readonly queueMax: number;
  readonly limits: QueryLimits;
}

/** Opens an engine on an empty store of its own. `remove` is called after the suite has closed the engine. */
export type OpenEngine = (size: EngineSize) => Promise<{ engine: Engine; remove: () => Promise<void> }>;

const SIZE: EngineSize = {
  readers: 2,
  queueMax: 10,
  // Far longer than any of these queries takes, on a busy machine, too.
  limits: { timeoutMs: 120_000, memoryBytesMax: 256 * MIB, resultBytesMax: 4 * MIB },
};

// Computes for hours unless it is stopped.
const ENDLESS = 'SELECT sum(sipHash64(number)) FROM numbers(1000000000000)';
const TABLE = 'contract';

/** What every engine promises (src/engine/engine.ts). A new engine passes this as it stands. */
export function describeEngine(name: string, open: OpenEngine): void {
  describe(name, () => {
    describe('values', () => describeValues(use(open)));
    describe('rows', () => describeRows(use(open)));
    describe('tokens of inserts', () => describeTokens(use(open)));
    describe('searches', () => describeSearches(use(open)));
    describe('reading only', () => describeReadOnly(use(open, { ...SIZE, readers: 1 })));
    describe('failures', () => describeFailures(use(open)));
    describe('the limits of size', () => {
      const limits = { ...SIZE.limits, memoryBytesMax: 64 * MIB, resultBytesMax: 10_000 };
      describeSizeLimits(use(open, { ...SIZE, limits }));
    });
    describe('several readers', () => describeReaders(use(open)));
    describe('one reader', () => describeQueue(use(open, { ...SIZE, readers: 1, queueMax: 1 })));
    describe('closing', () => describeClosing(open));
  });
}

/** The part of it that waits for the time limit. */
export function describeTimeLimit(open: OpenEngine): void {
  const limits = { ...SIZE.limits, timeoutMs: 300 };
  const engine = use(open, { ...SIZE, limits });

  test('a query over the time limit is query_timeout, and stops inside the engine', async () => {
    const error = await rejectionOf(ask(engine(), ENDLESS));
    expect(error).toMatchObject({ code: 'query_timeout', status: 504, retryAfterSeconds: undefined });
    expect(error.message).toContain(`${limits.timeoutMs} ms`);
    await untilIdle(engine());
  });

  test('a query that was never begun for its wait is query_timeout too', async () => {
    const work = Array.from({ length: SIZE.readers + 1 }, () => rejectionOf(ask(engine(), ENDLESS)));
    expect(engine().gauges()).toMatchObject({ state: 'up', running: SIZE.readers, queued: 1 });
    for (const error of await Promise.all(work)) expect(error.code).toBe('query_timeout');
    await untilIdle(engine());
  });
}

/** An engine that lives as long as the group of tests around it. */
function use(open: OpenEngine, size = SIZE): () => Engine {
  let opened: Awaited<ReturnType<OpenEngine>> | undefined;
  beforeAll(async () => {
    opened = await open(size);
  });
  afterAll(async () => {
    await opened?.engine.close();
    await opened?.remove();
  });
  return () => {
    if (opened === undefined) throw new Error('the engine is opened before the first test');
    return opened.engine;
  };
}

async function ask(
  engine: Engine,
  sql: string,
  values: Readonly<Record<string, string>> = {},
  format: RowFormat = 'TSVRaw',
): Promise<string> {
  return (await engine.query(sql, values, { format })).bytes.toString();
}

/** Lines of JSON into columns of one of the contract's tables. */
function insertInto(engine: Engine, table: string, columns: readonly string[], text: string, token?: string) {
  const bytes = Buffer.from(text);
  const batch = { table, columns, format: 'JSONCompactEachRow', bytes } as const;
  return engine.insert({ ...batch, ...(token !== undefined && { token }) });
}

/** A query that runs until its `stop` is called, begun in the engine when this resolves. */
async function startEndless(engine: Engine) {
  const controller = new AbortController();
  const before = engine.gauges().running;
  const ended = engine.query(ENDLESS, {}, { format: 'TSVRaw', signal: controller.signal }).then(
    () => 'answered',
    (error: unknown) => error,
  );
  await until(() => countInEngine(engine), before + 1);
  return { ended, stop: (reason?: Error) => controller.abort(reason) };
}

/** Polls until the engine has reached a state that it does not report. */
async function until<T>(look: () => T | Promise<T>, expected: T): Promise<void> {
  await expect.poll(look, { interval: 10 }).toEqual(expected);
}

/** Waits until nothing runs any more, by our count and by the engine's. */
async function untilIdle(engine: Engine): Promise<void> {
  await until(() => countInEngine(engine), 0);
  await expect
    .poll(() => engine.gauges(), { interval: 10 })
    .toMatchObject({ state: 'up', running: 0, queued: 0 });
}

/** Endless queries that the engine itself says it is computing. */
async function countInEngine(engine: Engine): Promise<number> {
  const [row] = await engine.inspect(
    `SELECT count() AS n FROM system.processes WHERE query LIKE '%sum(sipHash64(number))%' AND query NOT LIKE '%processes%'`,
  );
  return Number(row?.['n']);
}

function describeValues(engine: () => Engine): void {
  const echo = async (value: string) => {
    const line = await ask(engine(), 'SELECT @value AS value', { value }, 'JSONEachRow');
    return (JSON.parse(line) as { value: string }).value;
  };

  test.each([
    ['quotes', `it's "so" \`here\` ''''`],
    ['NUL', 'a\0b\0'],
    ['100 KB', '\'\\"\0é\n'.repeat(15_000)],
  ])('a value with %s comes back as it is', async (_, value) => {
    expect(await echo(value)).toBe(value);
  });

  test('any string comes back as it is', async () => {
    const anyUnit = fc.oneof(
      fc.integer({ min: 0, max: 0xffff }).map((unit) => String.fromCharCode(unit)),
      fc.constantFrom("'", '\\', '\0', '\n', '@', '"', '`', '/*', '*/', '--', '$', '{', '%'),
    );
    const property = fc.asyncProperty(fc.string({ unit: anyUnit, maxLength: 40 }), async (value) => {
      expect(await echo(value)).toBe(value.toWellFormed());
    });
    await fc.assert(property, runs(300));
  });
}

function describeRows(engine: () => Engine): void {
  test.each([
    ['64-bit integers unquoted', 'toUInt64(18446744073709551615)', '18446744073709551615'],
    ['decimals unquoted', 'toDecimal64(1.25, 2)', '1.25'],
    ['NaN as null', 'nan', 'null'],
    ['bytes that are not UTF-8 replaced', "unhex('61FF62')", '"a\ufffdb"'],
  ])('JSONEachRow writes %s', async (_, expression, json) => {
    expect(await ask(engine(), `SELECT ${expression} AS v`, {}, 'JSONEachRow')).toBe(`{"v":${json}}\n`);
  });

  test('rows that were inserted are seen by every reader at once', async () => {
    await engine().command(`CREATE TABLE ${TABLE} (id Int64, text String) ENGINE = MergeTree ORDER BY id`);
    for (let i = 1; i <= 5; i++) {
      const rows = `[9007199254740993,${JSON.stringify(`é\0'\\${i}`)}]\n[${i},"x"]\n`;
      await insertInto(engine(), TABLE, ['id', 'text'], rows);
      const count = () => ask(engine(), 'SELECT count() FROM contract');
      const counts = await Promise.all(Array.from({ length: 6 }, count));
      expect(new Set(counts)).toEqual(new Set([`${2 * i}\n`]));
    }
    const sql = 'SELECT id, text FROM contract ORDER BY id DESC, text LIMIT 1';
    const row = { id: JSON.parse('9007199254740993'), text: "é\0'\\1" };
    expect(JSON.parse(await ask(engine(), sql, {}, 'JSONEachRow'))).toEqual(row);
    expect(await ask(engine(), 'SELECT max(id) FROM contract')).toBe('9007199254740993\n');
  });

  test('an insert that the engine rejects fails, and leaves nothing', async () => {
    await engine().command(`CREATE TABLE ${TABLE}_bad (id Int64) ENGINE = MergeTree ORDER BY id`);
    const insert = (text: string) => insertInto(engine(), `${TABLE}_bad`, ['id'], text);
    expect((await rejectionOf(insert('[1]\n["x"]\n'))).code).toBe('query_failed');
    expect(await ask(engine(), 'SELECT count() FROM contract_bad')).toBe('0\n');
    await insert('[1]\n');
    expect(await ask(engine(), 'SELECT count() FROM contract_bad')).toBe('1\n');
  });
}

function describeTokens(engine: () => Engine): void {
  beforeAll(async () => {
    await engine().command(
      `CREATE TABLE ${TABLE}_tokens (day Date, id Int64) ENGINE = MergeTree PARTITION BY day ORDER BY id
       SETTINGS non_replicated_deduplication_window = 100`,
    );
  });
  const insert = (text: string, token?: string) =>
    insertInto(engine(), `${TABLE}_tokens`, ['day', 'id'], text, token);
  const ids = () => ask(engine(), 'SELECT groupArray(id) FROM (SELECT id FROM contract_tokens ORDER BY id)');

  test('rows that come again under a token are stored once, other rows as often as they come', async () => {
    await insert('["2026-11-20",1]\n', 'a');
    await insert('["2026-11-20",1]\n', 'a');
    expect(await ids()).toBe('[1]\n');
    await insert('["2026-11-20",1]\n', 'b');
    await insert('["2026-11-20",2]\n');
    await insert('["2026-11-20",2]\n');
    expect(await ids()).toBe('[1,1,2,2]\n');
  });

  test('a token is known for each day by itself', async () => {
    await insert('["2026-11-21",3]\n', 'a');
    await insert('["2026-11-21",3]\n', 'a');
    expect(await ids()).toBe('[1,1,2,2,3]\n');
  });
}

function describeReadOnly(engine: () => Engine): void {
  beforeAll(async () => {
    await engine().command(`CREATE TABLE ${TABLE} (id Int64, text String) ENGINE = MergeTree ORDER BY id`);
  });

  test.each([
    'INSERT INTO contract SELECT 1, 2',
    'CREATE TABLE other (id Int64) ENGINE = Memory',
    'ALTER TABLE contract DELETE WHERE 1',
    'DROP TABLE contract',
    'SELECT 1; DROP TABLE contract',
    'SELECT 1 SETTINGS max_execution_time = 0',
    "SELECT * FROM file('/etc/passwd', 'LineAsString')",
    "SELECT * FROM url('http://127.0.0.1:1/', 'LineAsString')",
    "SELECT * FROM remote('127.0.0.1:1', 'system.one')",
    "SELECT * FROM executable('id', 'LineAsString', 'x String')",
    "INSERT INTO FUNCTION file('/tmp/written', 'CSV') SELECT 1",
    'SELECT * FROM system.users',
    'GRANT ALL ON *.* TO default',
    'SYSTEM SHUTDOWN',
    "BACKUP TABLE contract TO File('/tmp/written')",
    'SET readonly = 0',
  ])('rejects %s', async (sql) => {
    expect((await rejectionOf(ask(engine(), sql))).code).toBe('query_failed');
    expect(await ask(engine(), 'SELECT count() FROM contract')).toBe('0\n');
    expect(await ask(engine(), 'SHOW TABLES')).toBe('contract\n');
  });
}

function describeFailures(engine: () => Engine): void {
  test.each([
    ['match', '(', 'missing )'],
    ['match', 'a{1001}', 'invalid repetition size'],
  ])('%s of the pattern %s is invalid_parameter: %s', async (call, pattern, reason) => {
    const error = await rejectionOf(
      ask(engine(), `SELECT ${call}(materialize('abc'), @pattern)`, { pattern }),
    );
    const message = `is not a valid RE2 regular expression: ${reason}`;
    expect(error).toMatchObject({ code: 'invalid_parameter', message });
  });

  const conversions = ['toInt64(v)', 'toDateTime64(v, 6)', 'toUUID(v)', "CAST(v AS Enum8('a' = 1))"];
  const secrets = ['s3cret', "it's s3cret", "s3cret\\'", '"s3cret', '12 s3cret', '/var/s3cret/x'];
  test.each(conversions)('a caller does not see the value that %s failed on', async (call) => {
    let failed = 0;
    for (const v of secrets) {
      const sql = `SELECT ${call} AS r FROM (SELECT materialize(@v) AS v) WHERE NOT ignore(r)`;
      const error = await ask(engine(), sql, { v }).catch((cause: unknown) => cause);
      if (!(error instanceof TailraceError)) continue;
      failed++;
      expect(error.message).not.toMatch(/s3cret|\/var/);
      // The cause goes into the log, which holds no values either.
      expect(String(error.cause)).toMatch(/^Error: ClickHouse \d+: /);
      expect(String(error.cause)).not.toMatch(/s3cret|\/var/);
    }
    expect(failed).toBeGreaterThan(0);
  });
}

function describeSizeLimits(engine: () => Engine): void {
  test('a query over the memory limit is query_failed', async () => {
    const error = await rejectionOf(
      ask(engine(), 'SELECT length(groupArray(number)) FROM numbers(100000000)'),
    );
    const message = 'the query needs more memory than one query may take';
    expect(error).toMatchObject({ code: 'query_failed', message });
  });

  test.each(['JSONEachRow', 'TSVRaw'] as const)(
    'an answer over the size limit is query_failed in %s',
    async (format) => {
      const big = "SELECT repeat('x', 100) FROM numbers(@n::UInt64)";
      expect((await ask(engine(), big, { n: '50' }, format)).length).toBeGreaterThan(5_000);
      for (const n of ['200', '100000']) {
        expect((await rejectionOf(ask(engine(), big, { n }, format))).code).toBe('query_failed');
      }
    },
  );
}

function describeReaders(engine: () => Engine): void {
  test('an abort rejects with its reason and stops that query alone', async () => {
    const first = await startEndless(engine());
    const second = await startEndless(engine());
    expect(engine().gauges().running).toBe(2);
    const reason = new Error('hung up');
    first.stop(reason);
    expect(await first.ended).toBe(reason);
    await until(() => engine().gauges().running, 1);
    expect(await countInEngine(engine())).toBe(1);
    second.stop(reason);
    expect(await second.ended).toBe(reason);
    await untilIdle(engine());
  });
}

function describeQueue(engine: () => Engine): void {
  test('a full queue rejects the next query at once, with a time to retry', async () => {
    const slow = await startEndless(engine());
    const waiting = ask(engine(), 'SELECT 1');
    const error = await rejectionOf(ask(engine(), 'SELECT 2'));
    expect(error).toMatchObject({ code: 'overloaded', status: 503, retryAfterSeconds: 1 });
    expect(engine().gauges()).toMatchObject({ state: 'up', running: 1, queued: 1 });
    slow.stop();
    expect(await waiting).toBe('1\n');
    await untilIdle(engine());
  });

  // chDB keeps what a failed query had already written, and put it before the next answer.
  test.each([
    ['that failed', 'SELECT number, intDiv(1, number - 300000) FROM numbers(1000000)'],
    ['that was too large', "SELECT number, repeat('x', 100) FROM numbers(1000000)"],
  ])("rows of a query %s are in nobody else's answer", async (_, sql) => {
    for (const format of ['JSONEachRow', 'TSVRaw'] as const) {
      expect((await rejectionOf(ask(engine(), sql, {}, format))).code).toBe('query_failed');
      expect(await ask(engine(), 'SELECT 1')).toBe('1\n');
    }
  });

  test('rows of a stopped query are in no other answer', async () => {
    const controller = new AbortController();
    const sql = `SELECT number FROM numbers(200000) UNION ALL ${ENDLESS}`;
    const stopped = engine()
      .query(sql, {}, { format: 'TSVRaw', signal: controller.signal })
      .catch(() => 'stopped');
    await until(() => countInEngine(engine()), 1);
    controller.abort();
    expect(await stopped).toBe('stopped');
    expect(await ask(engine(), 'SELECT 1')).toBe('1\n');
  });
}

function describeClosing(open: OpenEngine): void {
  test('closing rejects running and waiting queries', async () => {
    const { engine, remove } = await open({ ...SIZE, readers: 1 });
    const slow = await startEndless(engine);
    const waiting = rejectionOf(ask(engine, 'SELECT 1'));
    await engine.close();
    expect(await slow.ended).toMatchObject({ code: 'engine_unavailable' });
    expect(await waiting).toMatchObject({ code: 'engine_unavailable', status: 503, retryAfterSeconds: 1 });
    await remove();
  });

  test('closing waits for the inserts under way', async () => {
    const { engine, remove } = await open(SIZE);
    await engine.command(`CREATE TABLE ${TABLE} (id Int64) ENGINE = MergeTree ORDER BY id`);
    const insert = insertInto(engine, TABLE, ['id'], '[1]\n');
    const [inserted] = await Promise.allSettled([insert, engine.close()]);
    expect(inserted.status).toBe('fulfilled');
    await remove();
  });
}
