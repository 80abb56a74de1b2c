import { join } from 'node:path';
import { copyEndpoints } from './endpoints.ts';
import { get, QUERY_PATH } from './http.ts';
import { ownService, PRIVATE_KEY, writeFiles } from './service.ts';

export const FORMAT_NAMES = ['json', 'ndjson', 'csv', 'arrow', 'parquet', 'prometheus'] as const;
type FormatName = (typeof FORMAT_NAMES)[number];

export const MEDIA_TYPES: Readonly<Record<FormatName, string>> = {
  json: 'application/json; charset=utf-8',
  ndjson: 'application/x-ndjson',
  csv: 'text/csv; charset=utf-8; header=present',
  arrow: 'application/vnd.apache.arrow.stream',
  parquet: 'application/vnd.apache.parquet',
  prometheus: 'text/plain; version=0.0.4; charset=utf-8',
};

const COUNT = 'count: { type: integer, default: 3, description: How many rows. }';

const TYPES = `  id: { type: integer, description: Never null. }
  big: { type: integer, description: Beyond 2^53. }
  ratio: { type: number, description: A decimal in the engine. }
  flag: { type: boolean, description: Never null. }
  name: { type: string, description: Null in the second row. }
  day: { type: string, description: A date in the engine. }
  data: { type: json, description: Of any shape. }`;

/** Every second row has nulls where a column can have them. */
const TYPES_SQL = `SELECT
  toUInt32(number) AS id,
  if(number % 2 = 1, NULL, toUInt64(9007199254740993 + number)) AS big,
  if(number % 2 = 1, NULL, toDecimal64(number, 2) / 4) AS ratio,
  CAST(number % 2 = 0, 'Bool') AS flag,
  if(number % 2 = 1, NULL, toLowCardinality(concat('née ', toString(number)))) AS name,
  toDate('2026-11-20') + toIntervalDay(number % 1000) AS day,
  if(number % 2 = 1, '', '{"b":null,"a":[1,"x\\\\n"]}') AS data
FROM numbers(1000000) WHERE number < @count ORDER BY number`;

/** The row that `TYPES_SQL` writes, as JSON. */
export function typedRow(i: number) {
  const isFull = i % 2 === 0;
  return {
    id: i,
    big: isFull ? 9007199254740993n + BigInt(i) : null,
    ratio: isFull ? i / 4 : null,
    flag: isFull,
    name: isFull ? `née ${i}` : null,
    day: new Date(Date.UTC(2026, 10, 20 + (i % 1000))).toISOString().slice(0, 10),
    data: isFull ? { b: null, a: [1, 'x\n'] } : null,
  };
}

interface Written {
  readonly name: string;
  readonly sql: string;
  readonly parameters: string;
  readonly columns: string;
}

const ENDPOINTS: readonly Written[] = [
  { name: 'formats.types', sql: TYPES_SQL, parameters: COUNT, columns: TYPES },
  {
    name: 'formats.cells',
    sql: "SELECT nullIf(arrayJoin(arrayConcat([''], @cells)), 'NULL') AS cell, cell AS data",
    parameters: 'cells: { type: list, of: string, max_items: 100, description: Texts. }',
    columns:
      '  cell: { type: string, description: One of them. }\n  data: { type: json, description: Unchecked. }',
  },
  {
    name: 'formats.broken',
    sql: "SELECT throwIf(number = 400000, 'broken on purpose') AS n FROM numbers(500000) WHERE @count = @count",
    parameters: COUNT,
    columns: '  n: { type: integer, description: Never there. }',
  },
  {
    name: 'formats.samples-2',
    sql: `SELECT label, nullIf(other, '') AS other, toInt64OrNull(whole) AS whole, toFloat64OrNull(part) AS part
FROM (SELECT 1 AS \`#labels\`) ARRAY JOIN @labels AS label, @others AS other, @wholes AS whole, @parts AS part`,
    parameters: ['labels', 'others', 'wholes', 'parts']
      .map((name) => `${name}: { type: list, of: string, max_items: 200, description: A text of each row. }`)
      .join('\n  '),
    columns: `  label: { type: string, description: Text. }
  other: { type: string, description: Null if empty. }
  whole: { type: integer, description: 'Never @now, a \\ or a line end.' }
  part: { type: number, description: "With NaN,\\nand infinite ones." }`,
  },
  {
    name: 'formats.newest',
    sql: `SELECT intDiv(number, 2) AS timestamp, if(number % 2 = 0, 'even', 'odd') AS parity, true AS flag,
  '{"a":[1]}' AS data, number AS value FROM numbers(10) WHERE number < @count ORDER BY number`,
    parameters: COUNT,
    columns: `  timestamp: { type: integer, description: Time. }
  parity: { type: string, description: Text. }
  flag: { type: boolean, description: Always. }
  data: { type: json, description: JSON. }
  value: { type: integer, description: Number. }`,
  },
];

const toYaml = (
  { name, parameters, columns }: Written,
  i: number,
) => `id: f0000000-0000-4000-8000-00000000000${i}
name: ${name}
description: Of a test.
max_rows: 1000000
caching: 900
parameters:
  ${parameters}
columns:
${columns}
`;

/** A service with the shipped endpoints and some for formats. */
export async function startFormatsService() {
  const folder = await copyEndpoints();
  for (const [i, endpoint] of ENDPOINTS.entries()) {
    const files = { 'endpoint.yaml': toYaml(endpoint, i), 'query.sql': `${endpoint.sql}\n` };
    await writeFiles(join(folder, endpoint.name), files);
  }
  const service = await ownService({ env: { TAILRACE_ENDPOINTS_DIR: folder } });

  /** The bytes of an answer as they come. */
  async function fetchBytes(path: string, headers: Readonly<Record<string, string>> = {}): Promise<Buffer> {
    const response = await fetch(`${service.url}${QUERY_PATH}/${path}`, {
      headers: { 'x-api-key': PRIVATE_KEY, ...headers },
    });
    if (!response.ok) throw new Error(`${path}: ${response.status} ${await response.text()}`);
    return Buffer.from(await response.arrayBuffer());
  }

  return {
    ...service,
    fetchBytes,
    ask: (path: string, headers?: Record<string, string>) =>
      get(service.url, `${QUERY_PATH}/${path}`, headers),
  };
}
