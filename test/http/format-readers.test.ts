import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { DuckDBInstance } from '@duckdb/node-api';
import { tableFromIPC } from 'apache-arrow';
import { parse } from 'csv-parse/sync';
import { afterAll, describe, expect, test } from 'vitest';
import { startFormatsService, typedRow } from '../support/formats.ts';
import { QUERY_PATH, request } from '../support/http.ts';
import { temporaryFolder } from '../support/service.ts';

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

/** Reads a Parquet file with the response. */
async function readParquet(path: string) {
  const file = join(folder.path, 'answer.parquet');
  await writeFile(file, await fetchBytes(`${path}${path.includes('?') ? '&' : '?'}format=parquet`));
  const rows = await askDuckDb(`SELECT * FROM read_parquet('${file}')`);
  const described = await askDuckDb(`DESCRIBE SELECT * FROM read_parquet('${file}')`);
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
    const { rows, types, file } = await readParquet('formats.types?count=20000');
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
    const empty = await readParquet('formats.types?count=0');
    expect([empty.rows, Object.keys(empty.types)]).toEqual([[], COLUMNS]);
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
    const empty = await read(0);
    expect([empty.numRows, empty.schema.names]).toEqual([0, COLUMNS]);
  });
});

describe('CSV', () => {
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
    const cells = ['"', '",', ';', '\t', ' a ', 'a\r\nb', '\r', 'NUL \0 inside', '\\N'];
    cells.push('=1+1', '@SUM(A1)', 'NULL', 'null', '{"a":"b"}', '漢 é 👩‍👩‍👧', '\ufeffBOM');
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

test('NDJSON is a row a line, as JSON has them, and nothing without rows', async () => {
  const lines = (await fetchBytes('formats.types?count=3&format=ndjson')).toString();
  const json = (await fetchBytes('formats.types?count=3')).toString();
  expect(`{"result":[${lines.trimEnd().split('\n').join(',')}]}`).toBe(json);
  expect(await fetchBytes('formats.types?count=0&format=ndjson')).toHaveLength(0);
});
