import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { formatFault } from '../../src/definitions/fault.ts';
import { readDefinitions } from '../../src/definitions/read.ts';
import { temporaryFolder } from '../support/service.ts';

const folder = await temporaryFolder();
afterAll(folder.remove);
const folders = { endpointsDir: join(folder.path, 'endpoints'), sourcesDir: 'sources' };
const dir = join(folders.endpointsDir, 'test.one');
await mkdir(dir, { recursive: true });
const YAML = join(dir, 'endpoint.yaml');
const QUERY = join(dir, 'query.sql');

const ENDPOINT = `id: a0000000-0000-4000-8000-000000000001
name: test.one
description: A test.
max_rows: 1000
caching: 900
bucket:
  column: at
  by: interval
  width: { hour: 60, day: 3600 }
  range: 86400
parameters:
  interval: { type: enum, values: [hour, day], default: day, description: A width. }
  plain: { type: string, description: Anything. }
columns:
  at: { type: integer, description: Start of the bucket. }
  ratio: { type: number, description: A number. }
`;
const SQL = `SELECT intDiv(toUnixTimestamp64Micro(timestamp), @bucket_width * 1000000) AS at, avg(1) AS ratio
FROM edge_logs WHERE timestamp >= @bucket_from AND timestamp < @bucket_until AND @plain = '' GROUP BY at`;

async function read(yaml: string, sql = SQL) {
  await writeFile(YAML, yaml);
  await writeFile(QUERY, sql);
  const { definitions, faults } = await readDefinitions(folders);
  const told = faults.map((fault) => formatFault(fault).replaceAll(`${dir}/`, ''));
  return { bucket: definitions.endpoints[0]?.bucket, faults: told };
}

describe('a bucket', () => {
  test('has a span for each value, and the sources that its query names', async () => {
    const { bucket, faults } = await read(ENDPOINT);
    expect(faults).toEqual([]);
    expect([...(bucket?.spans ?? [])]).toEqual([
      ['hour', { widthSeconds: 60, rangeSeconds: 86_400 }],
      ['day', { widthSeconds: 3600, rangeSeconds: 86_400 }],
    ]);
    expect(bucket?.sources.map(({ table }) => table)).toEqual(['edge_logs']);
    expect(bucket).toMatchObject({ column: 'at', by: 'interval', aligned: false });
  });

  test('names its sources in quotes or with the database, too, and not in texts and comments', async () => {
    const sql = SQL.replace('FROM edge_logs', 'FROM tailrace.`auth_logs` /* postgres_logs */, "edge_logs"');
    const { bucket } = await read(ENDPOINT, `${sql} HAVING 'realtime_logs' != ''`);
    expect(bucket?.sources.map(({ table }) => table).sort()).toEqual(['auth_logs', 'edge_logs']);
  });

  test.for([
    ['column: at', 'column: when', 7, '"column" must be one of "columns": at, ratio'],
    ['column: at', 'column: ratio', 7, '"column" must be an integer, in microseconds since 1970, or a strin'],
    ['  by: interval\n', '', 8, '"width" has seconds for several values: "by" must name their parameter'],
    ['plain: {', 'bucket_from: {', 13, '"bucket_from" is bound by the service'],
  ] as const)('with %j as %j is refused', async ([from, to, line, message]) => {
    expect(ENDPOINT).toContain(from);
    const { faults } = await read(ENDPOINT.replace(from, to));
    expect(faults).toContainEqual(expect.stringContaining(`endpoint.yaml:${line}: ${message}`));
  });

  test('must bound what its query reads', async () => {
    const { faults } = await read(ENDPOINT, SQL.replace('@bucket_until', '@bucket_from'));
    expect(faults).toEqual([expect.stringContaining('query.sql:1: must use @bucket_until: with "bucket"')]);
  });
});
