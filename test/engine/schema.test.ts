import fc from 'fast-check';
import { afterAll, describe, expect, test } from 'vitest';
import type { Source, SourceColumn } from '../../src/definitions/source.ts';
import { applySchema } from '../../src/engine/schema.ts';
import { tableColumns } from '../../src/engine/table.ts';
import { parseEvent } from '../../src/ingest/event.ts';
import { typedValue } from '../../src/ingest/read-event.ts';
import { insertEvents } from '../../src/ingest/rows.ts';
import { findValue } from '../../src/lib/json.ts';
import { type SqlText, textOf, trusted, writeValue } from '../../src/sql/sql.ts';
import { faultsIn } from '../support/faults.ts';
import { runs, weighted } from '../support/property.ts';
import { createColumn, createSource } from '../support/source.ts';
import { openEmbedded } from './open.ts';

const limits = { timeoutMs: 10_000, memoryBytesMax: 1024 ** 3, resultBytesMax: 1024 ** 2 };
const { engine, remove } = await openEmbedded({ readers: 1, queueMax: 10, limits });
afterAll(remove);
afterAll(engine.close);

const NOW = Date.UTC(2026, 10, 20) * 1000;

let made = 0;
const makeSource = (columns: readonly SourceColumn[], more: Partial<Source> = {}): Source =>
  createSource({ table: `table_${++made}`, retentionDays: 30_000, columns, ...more });

async function store(source: Source, events: readonly string[]): Promise<void> {
  const rules = { now: NOW, eventBytesMax: 1_000_000, project: '' };
  const parsed = events.map((text) => parseEvent({ text }, source, rules));
  await insertEvents(engine, source, parsed);
}

async function readAll(source: Source): Promise<Record<string, unknown>[]> {
  return await engine.inspect(trusted(`SELECT * FROM tailrace.${source.table} ORDER BY id`));
}

/** The tables as the engine itself would write them down. */
async function describeTables(): Promise<unknown> {
  return await engine.inspect(
    `SELECT name, create_table_query, metadata_modification_time FROM system.tables WHERE database = 'tailrace' ORDER BY name`,
  );
}

const every: readonly SourceColumn[] = (['string', 'keyword', 'integer', 'number', 'boolean'] as const).map(
  (type) => createColumn(`a_${type}`, type, ['metadata', 'v']),
);

describe('the tables of sources', () => {
  test('are created once: applying the same sources again changes nothing', async () => {
    const sources = [makeSource(every), makeSource([])];
    await applySchema(engine, sources);
    const before = await describeTables();
    const commands: string[] = [];
    const command = <T extends string>(sql: SqlText<T>) => {
      commands.push(textOf(sql));
      return engine.command(sql);
    };
    await applySchema({ ...engine, command }, sources);
    expect(commands).toEqual([]);
    expect(await describeTables()).toEqual(before);
  });

  test('gain columns of any name whose values are computed for the events already there, at any path', async () => {
    const source = makeSource([], { table: 'select' });
    await applySchema(engine, [source]);
    const names = ['a.b', "it's", 'a\\b', 'a`b', '@x', ''];
    const members = names.map((name) => `${JSON.stringify(name)}:{"c":"found"}`).join();
    const events = ['"x"', '12', '1.5', 'true', 'null', '{"b":1}'].map(
      (v, i) => `{"id":"${i}","level":"top ${i}","metadata":{"v":${v},${members}}}`,
    );
    await store(source, events);
    const words = 'index projection primary select ttl null'.split(' '); // of SQL, as names of columns
    const nested = names.map((name, i) => createColumn(words[i] ?? '', 'string', ['metadata', name, 'c']));
    const wider = { ...source, columns: [...every, createColumn('top', 'string', ['level']), ...nested] };
    await applySchema(engine, [wider]);
    await applySchema(engine, [wider]);
    const old = await readAll(wider);
    const typed = ['a_string', 'a_integer', 'a_number', 'a_boolean'];
    expect(old.map((row) => typed.map((name) => row[name]))).toEqual([
      ['x', null, null, null],
      [null, 12, 12, null],
      [null, null, 1.5, null],
      [null, null, null, true],
      [null, null, null, null],
      [null, null, null, null],
    ]);
    expect(old.map((row) => [row['top'], ...nested.map(({ name }) => row[name])])).toEqual(
      events.map((_, i) => [`top ${i}`, ...names.map(() => 'found')]),
    );

    const fresh = { ...wider, table: `${source.table}_fresh` };
    await applySchema(engine, [fresh]);
    await store(fresh, events);
    expect(await readAll(fresh)).toEqual(old.map((row) => ({ ...row, timestamp: expect.anything() })));
  });

  test('keep columns that no source names any more, with their data', async () => {
    const source = makeSource(every);
    await applySchema(engine, [source]);
    await store(source, ['{"id":"1","metadata":{"v":7}}']);
    const narrow = { ...source, columns: [] };
    await applySchema(engine, [narrow]);
    await store(narrow, ['{"id":"2","metadata":{"v":8}}']);
    expect((await readAll(source)).map((row) => row['a_integer'])).toEqual([7, 8]);
  });

  test('reject another type, naming column, old and new, and change nothing', async () => {
    const source = makeSource(every);
    await applySchema(engine, [source]);
    const before = await describeTables();
    const columns = [
      createColumn('a_string', 'integer', ['metadata', 'v']),
      createColumn('a_number', 'boolean', ['metadata', 'v']),
      createColumn('new_one', 'string', ['metadata', 'w']),
    ];
    const fault = (name: string, old: string, type: string) =>
      `sources/test.logs.yaml: column "${name}" of test.logs is stored as Nullable(${old}) and cannot become Nullable(${type}); give the new column another name`;
    const faults = await faultsIn(() => applySchema(engine, [makeSource([]), { ...source, columns }]));
    expect(faults).toEqual([fault('a_string', 'String', 'Int64'), fault('a_number', 'Float64', 'Bool')]);
    expect(await describeTables()).toEqual(before);
  });

  test('keep events beyond their retention, whatever the engine merges: to delete them is for Tailrace', async () => {
    const source = makeSource([], { retentionDays: 2 });
    await applySchema(engine, [source]);
    const name = `tailrace.${source.table}`;
    const old = trusted(`INSERT INTO ${name} (id, timestamp) SELECT 'old', now64(6) - toIntervalDay(9)`);
    await engine.command(old);
    await engine.command(trusted(`OPTIMIZE TABLE ${name} FINAL`));
    expect(await readAll(source)).toMatchObject([{ id: 'old' }]);
  });
});

test('the value of a typed column is the same whether ingest takes it or the engine computes it', async () => {
  const number = fc.oneof(
    fc.integer().map(String),
    // With an exponent where the digits alone would be an integer of more than 64 bits: see the last test.
    fc
      .double({ noNaN: true, noDefaultInfinity: true })
      .map((n) => (Math.abs(n) >= 2 ** 63 ? n.toExponential() : JSON.stringify(n))),
    fc.constantFrom(
      ...'0 -0 -0.0 1.0 1e2 1E+2 12.50e-1 9007199254740991 9007199254740993 -9007199254740992'.split(' '),
      ...'9223372036854775807 9223372036854775808 18446744073709551615 1e16 1e308 1e-400 5e-324'.split(' '),
    ),
  );
  const text = fc.oneof(
    fc.string({ unit: 'binary', maxLength: 10 }).map((value) => JSON.stringify(value)),
    fc.constantFrom('""', '"1"', '"true"', '"\\u0041\\/\\"\\\\"', '"\\ud83d\\ude00"', '"a\\u0000b"'),
  );
  const value = fc.oneof(
    number,
    text,
    fc.constantFrom('true', 'false', 'null', '[]', '{}', '[1]', '{"v":1}', '{"v":"x"}', '[{"v":1}]'),
  );
  // Around the value: at its place, one level off, missing, or inside something that is not an object.
  const metadata = weighted(
    [6, value.map((v) => `{"w":0,"v":${v},"x":"y"}`)],
    [1, value],
    [1, value.map((v) => `{"w":${v}}`)],
    [1, value.map((v) => `[${v}]`)],
    [1, value.map((v) => ` { "v" : ${v} } `)],
  );

  const zeroed = (v: unknown) => (Object.is(v, -0) ? 0 : v);
  const expressions = tableColumns(makeSource(every)).filter((one) => one.expression !== '');
  const list = expressions.map((one) => `toJSONString(${one.expression})`).join(', ');
  const property = fc.asyncProperty(fc.array(metadata, { minLength: 1, maxLength: 20 }), async (texts) => {
    const read = `SELECT arrayJoin([${texts.map(writeValue).join(', ')}]) AS metadata, '' AS attributes`;
    const rows = await engine.inspect(trusted(`SELECT [${list}] AS found FROM (${read})`));
    const taken = texts.map((json) => {
      const event: unknown = JSON.parse(`{"metadata":${json}}`);
      return every.map((one) => typedValue(findValue(event, one.path), one.type));
    });
    const found = rows.map((row) => (row['found'] as string[]).map((json) => zeroed(JSON.parse(json))));
    expect(found).toEqual(taken.map((values) => values.map(zeroed)));
  });
  await fc.assert(property, runs(300));
});
