import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { DuckDBInstance } from '@duckdb/node-api';
import { tableFromIPC } from 'apache-arrow';
import { parse } from 'csv-parse/sync';
import { afterAll, describe, expect, test } from 'vitest';
import { startFormatsService, typedRow } from '../support/formats.ts';
import { QUERY_PATH, request } from '../support/http.ts';
import { PRIVATE_KEY, temporaryFolder } from '../support/service.ts';

const service = await startFormatsService();
const { url, fetchBytes } = service;
const folder = await temporaryFolder();
const duckdb = await DuckDBInstance.create(':memory:');
const connection = await duckdb.connect();
afterAll(async () => {
  connection.closeSync();
  duckdb.closeSync();
  await service.close();
  await folder.remove();
});

async function askDuckDb(sql: string) {
  return (await connection.runAndReadAll(sql)).getRowObjectsJS();
}

const READERS = { parquet: 'read_parquet', csv: 'read_csv', ndjson: 'read_ndjson' } as const;
type Reader = keyof typeof READERS;

/** What DuckDB reads from a file with the answer. */
async function readWithDuckDb(format: Reader, path: string, what = '*') {
  const file = join(folder.path, `answer.${format}`);
  await writeFile(file, await fetchBytes(`${path}${path.includes('?') ? '&' : '?'}format=${format}`));
  const rows = await askDuckDb(`SELECT ${what} FROM ${READERS[format]}('${file}')`);
  const described = await askDuckDb(`DESCRIBE SELECT * FROM ${READERS[format]}('${file}')`);
  const types = Object.fromEntries(described.map((row) => [row['column_name'], row['column_type']]));
  return { file, rows, types };
}

/** A row as columns of one type each have it: `json` as text. */
const columnar = (i: number) => {
  const { id, data, ...row } = typedRow(i);
  return { id: BigInt(id), ...row, data: JSON.stringify(data) };
};
const COLUMNS = Object.keys(typedRow(0));

describe('Parquet', () => {
  test('is read by DuckDB: types, nulls, JSON as text, the order of the rows', async () => {
    const { rows, types, file } = await readWithDuckDb('parquet', 'formats.types?count=20000');
    expect(types).toEqual({
      ...{ id: 'BIGINT', big: 'BIGINT', ratio: 'DOUBLE', flag: 'BOOLEAN' },
      ...{ name: 'VARCHAR', day: 'VARCHAR', data: 'VARCHAR' },
    });
    expect(rows).toHaveLength(20_000);
    expect(rows.every((row, i) => row['id'] === BigInt(i))).toBe(true);
    expect(rows.slice(0, 3)).toEqual([columnar(0), columnar(1), columnar(2)]);
    const schema = await askDuckDb(`SELECT name, repetition_type FROM parquet_schema('${file}') OFFSET 1`);
    const optional = schema.filter((one) => one['repetition_type'] === 'OPTIONAL').map((one) => one['name']);
    expect(optional).toEqual(['big', 'ratio', 'name']);
  });

  test('has its columns also without rows', async () => {
    const { rows, types } = await readWithDuckDb('parquet', 'formats.types?count=0');
    expect([rows, Object.keys(types), types['big']]).toEqual([[], COLUMNS, 'BIGINT']);
  });
});

describe('an Arrow stream', () => {
  const read = async (count: number) =>
    tableFromIPC(await fetchBytes(`formats.types?count=${count}&format=arrow`));

  test('is read by apache-arrow: types, nulls, JSON as text, the order of the rows', async () => {
    const table = await read(20_000);
    expect(Object.fromEntries(table.schema.fields.map(({ name, type }) => [name, String(type)]))).toEqual({
      ...{
        id: 'Int64',
        big: 'Int64',
        ratio: 'Float64',
        flag: 'Bool',
        name: 'Utf8',
        day: 'Utf8',
        data: 'Utf8',
      },
    });
    expect(table.schema.fields.filter(({ nullable }) => nullable).map(({ name }) => name)).toEqual([
      ...['big', 'ratio', 'name'],
    ]);
    expect(table.numRows).toBe(20_000);
    expect([0, 1, 2].map((i) => table.get(i)?.toJSON())).toEqual([columnar(0), columnar(1), columnar(2)]);
    expect(table.get(19_999)?.toJSON()['id']).toBe(19_999n);
  });

  test('has its columns also without rows', async () => {
    const table = await read(0);
    expect([table.numRows, table.schema.names]).toEqual([0, COLUMNS]);
  });
});

describe('NDJSON', () => {
  test('is a row a line, as JSON has them, and nothing without rows', async () => {
    const { rows } = await readWithDuckDb(
      'ndjson',
      'formats.types?count=3',
      '* EXCLUDE data, to_json(data)::VARCHAR AS data',
    );
    expect(rows.map(({ id, name }) => [id, name])).toEqual([
      [0n, 'née 0'],
      [1n, null],
      [2n, 'née 2'],
    ]);
    const lines = (await fetchBytes('formats.types?count=3&format=ndjson')).toString();
    const json = (await fetchBytes('formats.types?count=3')).toString();
    expect(`{"result":[${lines.trimEnd().split('\n').join(',')}]}`).toBe(json);
    expect(await fetchBytes('formats.types?count=0&format=ndjson')).toHaveLength(0);
  });
});

describe('CSV', () => {
  test('is read by DuckDB', async () => {
    const { rows, types } = await readWithDuckDb('csv', 'formats.types?count=200');
    expect(types).toMatchObject({
      id: 'BIGINT',
      big: 'BIGINT',
      ratio: 'DOUBLE',
      flag: 'BOOLEAN',
      name: 'VARCHAR',
    });
    expect(rows).toHaveLength(200);
    expect(rows.slice(0, 3).map(({ day: _, ...row }) => row)).toEqual(
      [0, 1, 2].map((i) => {
        const { day: _, ...row } = columnar(i);
        return row;
      }),
    );
  });

  test('has RFC 4180’s line ends, and a line of names also without rows', async () => {
    expect((await fetchBytes('formats.types?count=2&format=csv')).toString()).toBe(
      [
        '"id","big","ratio","flag","name","day","data"',
        '0,9007199254740993,0,true,"née 0","2026-11-20","{""b"":null,""a"":[1,""x\\n""]}"',
        '1,,,false,,"2026-11-21","null"',
        '',
      ].join('\r\n'),
    );
    const empty = await fetchBytes('formats.types?count=0&format=csv');
    expect(empty.toString()).toBe('"id","big","ratio","flag","name","day","data"\r\n');
  });

  test('gives hostile cells back as they were: formulas as they are, an empty text apart from NULL', async () => {
    const cells = [
      ...[
        '"',
        '""',
        '",',
        "it's",
        ',',
        ';',
        '\t',
        ' a ',
        'a\nb',
        'a\r\nb',
        '\r',
        '\n',
        'NUL \0 inside',
        '\\',
        '\\N',
      ],
      ...[
        '=1+1',
        '+1',
        '-1',
        '@SUM(A1)',
        '=cmd|"/C calc"!A0',
        'NULL',
        'null',
        '{"a":"b"}',
        '漢 é 👩‍👩‍👧',
        '\ufeffBOM',
        '#',
      ],
    ];
    const answer = await request(url, `${QUERY_PATH}/formats.cells`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', accept: 'text/csv' },
      body: JSON.stringify({ cells }),
    });
    expect(answer.status, answer.text).toBe(200);
    const expected = ['', ...cells].map((cell) => ({
      cell: cell === 'NULL' ? null : cell,
      data: cell === 'NULL' || cell === '' ? 'null' : cell,
    }));
    const cast = (value: string, { quoting, header }: { quoting: boolean; header: boolean }) =>
      value === '' && !quoting && !header ? null : value;
    expect(parse(answer.text, { columns: true, cast })).toEqual(expected);
  });
});

test('bytes that are no UTF-8 are replaced in each format, as in JSON', async () => {
  const text = 'a\ufffdb';
  const read = async (format: string) => await fetchBytes(`formats.bytes?format=${format}`);
  expect((await read('ndjson')).toString()).toBe(`{"text":"${text}"}\n`);
  expect((await read('csv')).toString()).toBe(`"text"\r\n"${text}"\r\n`);
  expect(
    tableFromIPC(await read('arrow'))
      .get(0)
      ?.toJSON(),
  ).toEqual({ text });
  expect((await readWithDuckDb('parquet', 'formats.bytes')).rows).toEqual([{ text }]);
});

const hasHttpfs = await connection.run('LOAD httpfs').then(
  () => true,
  () => false,
);

describe.skipIf(!hasHttpfs)('DuckDB with its extension httpfs', () => {
  test.each(Object.entries(READERS))('reads %s from the URL', async (format, reader) => {
    await connection.run(
      `CREATE OR REPLACE SECRET (TYPE http, EXTRA_HTTP_HEADERS MAP {'X-API-KEY': '${PRIVATE_KEY}'})`,
    );
    await connection.run('SET force_download = true');
    const from = `${url}${QUERY_PATH}/formats.types?count=5&format=${format}`;
    expect(await askDuckDb(`SELECT count(*) AS n FROM ${reader}('${from}')`)).toEqual([{ n: 5n }]);
  });
});
