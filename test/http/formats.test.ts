import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { DuckDBInstance } from '@duckdb/node-api';
import { tableFromIPC } from 'apache-arrow';
import { parse } from 'csv-parse/sync';
import parsePrometheus from 'parse-prometheus-text-format';
import { afterAll, describe, expect, test } from 'vitest';
import { FORMAT_NAMES, MEDIA_TYPES, startFormatsService, typedRow } from '../support/formats.ts';
import { expectError, post, QUERY_PATH } from '../support/http.ts';
import { ownFolder } from '../support/service.ts';
import { comparable, createWays } from '../support/ways.ts';

const service = await startFormatsService();
const { url, ask, fetchBytes } = service;
const PATH = `${QUERY_PATH}/formats.types`;
const ways = createWays(service, PATH);
const folder = await ownFolder();
const duckdb = await DuckDBInstance.create(':memory:');
const connection = await duckdb.connect();
afterAll(() => {
  connection.closeSync();
  duckdb.closeSync();
});

const typeOf = async (path: string, headers?: Record<string, string>) => {
  const answer = await ask(path, headers);
  return answer.headers.get('content-type') ?? answer.status;
};

describe('a format', () => {
  test.each(FORMAT_NAMES)('%s is chosen by its name, whatever Accept says', async (name) => {
    expect(await typeOf(`formats.types?format=${name}`)).toBe(MEDIA_TYPES[name]);
    expect(await typeOf(`formats.types?format=${name}`, { accept: 'image/png' })).toBe(MEDIA_TYPES[name]);
  });

  // As Prometheus sends it.
  const SCRAPE = 'application/openmetrics-text;version=1.0.0;q=0.5,text/plain;version=0.0.4;q=0.2,*/*;q=0.1';
  test.each([
    ['application/json', 'json'],
    ['*/*', 'json'],
    ['TEXT/CSV; charset=utf-8', 'csv'],
    ['application/json;q=0.2, application/vnd.apache.arrow.stream;q=0.9, */*;q=0.1', 'arrow'],
    [SCRAPE, 'prometheus'],
  ] as const)('is chosen by Accept: %s', async (accept, name) => {
    expect(await typeOf('formats.types', { accept })).toBe(MEDIA_TYPES[name]);
    expect(await typeOf('formats.types?format=', { accept })).toBe(MEDIA_TYPES[name]);
  });

  test.each(['text/csv; header=absent', 'text/csv;q=0'])('is not found for Accept: %s', async (accept) => {
    const answer = await ask('formats.types', { accept });
    expectError(answer, 'not_acceptable');
    const offered = Object.values(MEDIA_TYPES).map((type) => type.split(';')[0]);
    expect(answer.body.error.message).toContain(offered.join(', '));
  });
});

describe.each(FORMAT_NAMES)('an answer in %s', (name) => {
  const path = `${PATH}?count=500&format=${name}`;

  test('is kept by itself, and sent again in the same way by the listener and the framework', async () => {
    const first = await ways.ask({}, { path });
    const again = await ways.ask({}, { path });
    expect(again.byFramework).toBe(false);
    expect(again.headers['cache-status']).toMatch(/^Tailrace; hit/);
    expect(again.body.equals(first.body)).toBe(true);
    expect(again.headers['content-length']).toBe(String(again.body.length));
    expect(comparable(again)).toEqual(comparable(await ways.askFramework({}, { path })));
  });

  test('has its own HEAD, an ETag and 304, and a file name if it is a file', async () => {
    const { body, headers } = await ways.ask({}, { path });
    const head = await ways.ask({}, { path, method: 'HEAD' });
    expect([head.body.length, head.headers['content-length']]).toEqual([0, String(body.length)]);
    expect(headers.vary).toMatch(/\bAccept\b/);
    const known = await ways.ask({ 'if-none-match': String(headers.etag) }, { path });
    expect([known.status, known.body.length]).toEqual([304, 0]);
    const isFile = name === 'csv' || name === 'parquet';
    const file = isFile ? `attachment; filename="formats.types.${name}"` : undefined;
    expect(headers['content-disposition']).toBe(file);
  });

  test('is an error in JSON if its query fails, however far it came', async () => {
    expectError(await ask(`formats.broken?format=${name}`), 'query_failed');
  });
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

test('Parquet is read by DuckDB: types, nulls, JSON as text, the order of the rows', async () => {
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

test('an Arrow stream is read by apache-arrow: types, nulls, JSON as text, the order of the rows', async () => {
  const read = async (count: number) =>
    tableFromIPC(await fetchBytes(`formats.types?count=${count}&format=arrow`));
  const table = await read(20_000);
  expect(Object.fromEntries(table.schema.fields.map(({ name, type }) => [name, String(type)]))).toEqual({
    ...{ id: 'Int64', big: 'Int64', ratio: 'Float64', flag: 'Bool' },
    ...{ name: 'Utf8', day: 'Utf8', data: 'Utf8' },
  });
  const nullable = table.schema.fields.filter((field) => field.nullable).map(({ name }) => name);
  expect(nullable).toEqual(['big', 'ratio', 'name']);
  expect(table.numRows).toBe(20_000);
  expect([0, 1, 2].map((i) => table.get(i)?.toJSON())).toEqual([columnar(0), columnar(1), columnar(2)]);
  expect(table.get(19_999)?.toJSON()['id']).toBe(19_999n);
  const empty = await read(0);
  expect([empty.numRows, empty.schema.names]).toEqual([0, COLUMNS]);
});

describe('CSV', () => {
  test('has RFC 4180’s line ends, and a line of names also without rows', async () => {
    const names = '"id","big","ratio","flag","name","day","data"\r\n';
    const first = '0,9007199254740993,0,true,"née 0","2026-11-20","{""b"":null,""a"":[1,""x\\n""]}"\r\n';
    const second = '1,,,false,,"2026-11-21","null"\r\n';
    const read = async (count: number) =>
      (await fetchBytes(`formats.types?count=${count}&format=csv`)).toString();
    expect([await read(2), await read(0)]).toEqual([names + first + second, names]);
  });

  test('gives hostile cells back as they were: formulas as they are, an empty text apart from NULL', async () => {
    const cells = ['"', '",', ';', '\t', ' a ', 'a\r\nb', '\r', 'NUL \0 inside', '\\N'];
    cells.push('=1+1', '@SUM(A1)', 'NULL', 'null', '{"a":"b"}', '漢 é 👩‍👩‍👧', '\ufeffBOM');
    const answer = await post(url, `${QUERY_PATH}/formats.cells`, { cells }, { accept: 'text/csv' });
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

/** Reads the text format by a parser of npm. Histograms have a NaN instead of their values. */
function parseMetrics(text: string) {
  return parsePrometheus(text).flatMap(({ name, type, metrics }) =>
    metrics.map(({ labels = {}, value = '' }) => ({ name, type, labels, value: readNumber(value) })),
  );
}

function readNumber(text: string): number {
  return text === '' ? Number.NaN : Number(text.replace('Inf', 'Infinity'));
}

type Sample = ReturnType<typeof parseMetrics>[number];

test('samples for Prometheus are read as they are, whatever is in labels and values', async () => {
  const labels = ['', '\\', '"', 'a\nb\r\t', '{x="y"} 1 # ,', 'é😀'];
  const parts = ['', 'nan', 'inf', '-inf', '1e300', '-5e-324'];
  const answer = await post(url, `${QUERY_PATH}/formats.samples-2`, {
    ...{ labels, others: labels.map((_, i) => `${i}`), wholes: labels.map((_, i) => `${-i}`), parts },
    format: 'prometheus',
  });
  expect(answer.status, answer.text).toBe(200);
  const byNumber = (a: Sample, b: Sample) => Number(a.labels['other']) - Number(b.labels['other']);
  const samples = parseMetrics(answer.text).toSorted(byNumber);
  const of = (name: string) => samples.filter((one) => one.name === `formats_samples_2_${name}`);
  expect(of('whole').map((one) => one.labels)).toEqual(
    labels.map((label, i) => ({ ...(label !== '' && { label }), other: `${i}` })),
  );
  expect(of('whole').map(({ value }) => value)).toEqual(labels.map((_, i) => 0 - i));
  expect(of('part').map(({ value }) => value)).toEqual([
    ...[Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY, 1e300, -5e-324],
  ]);
});

test('samples for Prometheus are of the newest row of each set of labels, if the rows have a time', async () => {
  const text = (await fetchBytes('formats.newest?count=9&format=prometheus')).toString();
  const data = String.raw`data="{\"a\":[1]}"`;
  expect(text.split('\n').filter((line) => !line.startsWith('#'))).toEqual([
    `formats_newest_value{parity="even",flag="true",${data}} 8`,
    `formats_newest_value{parity="odd",flag="true",${data}} 7`,
    `formats_newest_timestamp{parity="even",flag="true",${data}} 4`,
    `formats_newest_timestamp{parity="odd",flag="true",${data}} 3`,
    '',
  ]);
  expect((await fetchBytes('formats.newest?count=0&format=prometheus')).length).toBe(0);
});
