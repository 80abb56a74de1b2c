import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { DuckDBInstance } from '@duckdb/node-api';
import S3rver from 's3rver';
import { afterAll, describe, expect, test } from 'vitest';
import { rowsOf } from '../../support/ingest.ts';
import { runProgram } from '../../support/program.ts';
import { PRIVATE_KEY, temporaryFolder } from '../../support/service.ts';
import { newProject, shareService } from '../../support/shared-service.ts';

const folder = await temporaryFolder();
const file = (name: string) => join(folder.path, name);
const { url, core } = await shareService();
afterAll(folder.remove);

const load = (args: readonly string[], env: Record<string, string> = {}) =>
  runProgram(['load', 'logs', ...args, '--url', url, '--key', PRIVATE_KEY], env);
const stored = (project: string) =>
  rowsOf(core, project, { table: 'logs', columns: 'id, timestamp, event_message, metadata, attributes' });

// Written by another program than the one that reads it.
const duckdb = await DuckDBInstance.create(':memory:');
const connection = await duckdb.connect();
const at = new Date(Date.now() - 3_600_000).toISOString().slice(0, 19);
const writeParquet = (name: string, select: string) =>
  connection.run(`COPY (${select}) TO '${file(name)}' (FORMAT parquet)`);

describe('a Parquet file', () => {
  test('has columns of any type, which are fields by their names, by --map, or members of the metadata', async () => {
    const project = newProject();
    await writeParquet(
      'types.parquet',
      `SELECT 'e1' AS id, TIMESTAMP '${at}.000123' AS created, '${project}' AS project, 'line\n"2"' AS text,
        9007199254740993::BIGINT AS big, 1.5::DOUBLE AS ratio, NULL::VARCHAR AS missing, ['a', 'b'] AS list,
        {'path': '/x', 'status': 200} AS request, true AS ok, '007' AS code, '/y' AS "odd 'name'"`,
    );
    const maps = ['timestamp=created', 'event_message=text', "metadata.inner.odd=odd 'name'"].flatMap(
      (map) => ['--map', map],
    );
    const { code, stdout, stderr } = await load([file('types.parquet'), ...maps]);
    expect([code, stdout, stderr]).toEqual([0, expect.stringMatching(/: 1 event, .* 0 rejected\n$/), '']);
    const [row] = await stored(project);
    expect(row).toEqual({
      id: 'e1',
      timestamp: `${at.replace('T', ' ')}.000123`,
      event_message: 'line\n"2"',
      attributes: '',
      metadata: expect.stringContaining('"big":9007199254740993'),
    });
    expect(JSON.parse(String(row?.['metadata']))).toEqual({
      ...{ big: 9007199254740992, ratio: 1.5, missing: null, list: ['a', 'b'], ok: true, code: '007' },
      ...{ request: { path: '/x', status: 200 }, inner: { odd: '/y' } },
    });
  });
});

describe('a CSV file', () => {
  test('has texts, and numbers and booleans where a value looks like one; a line with too few has nulls', async () => {
    const project = newProject();
    const lines = `timestamp,message,project,status,zip,ok\n${at}Z,"a, ""b""\nc",${project},200,007,true\n${at}Z,x,${project}\n`;
    await writeFile(file('rows.csv.gz'), gzipSync(lines));
    expect(await load([file('rows.csv.gz')])).toMatchObject({ code: 0, stderr: '' });
    const rows = await stored(project);
    expect(rows.map((row) => [row['event_message'], row['metadata']]).toSorted()).toEqual([
      ['a, "b"\nc', '{"status":200,"zip":"007","ok":true}'],
      ['x', '{"status":null,"zip":null,"ok":null}'],
    ]);
  });
});

describe('an address', () => {
  test('of S3 stands for all files that it fits, with the credentials of the environment', async () => {
    const project = newProject();
    const directory = file('s3');
    const server = new S3rver({
      ...{ port: 0, address: '127.0.0.1', silent: true, directory },
      configureBuckets: [{ name: 'logs', configs: [] }],
    });
    const { port } = await server.run();
    const credentials = { AWS_ACCESS_KEY_ID: 'S3RVER', AWS_SECRET_ACCESS_KEY: 'S3RVER' };
    const env = { ...credentials, AWS_ENDPOINT_URL: `http://127.0.0.1:${port}` };
    try {
      await mkdir(join(directory, 'logs'), { recursive: true });
      for (const day of [1, 2]) {
        await writeParquet(`${day}.parquet`, `SELECT 'd${day}' AS id, '${project}' AS project`);
        await fetch(`http://127.0.0.1:${port}/logs/2026/${day}.parquet`, {
          method: 'PUT',
          body: await readFile(file(`${day}.parquet`)),
        });
      }
      expect(await load(['s3://logs/2026/*.parquet'], env)).toMatchObject({ code: 0, stderr: '' });
      const { AWS_SECRET_ACCESS_KEY: _, ...half } = env;
      const { code, stderr } = await load(['s3://logs/2026/1.parquet'], half);
      expect([code, stderr]).toEqual([
        1,
        expect.stringMatching(/set both AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY/),
      ]);
    } finally {
      await server.close();
    }
    expect((await stored(project)).map(({ id }) => id)).toEqual(['d1', 'd2']);
  });
});

test.each([
  [['a.parquet', '--map', 'time=x'], '--map time=x: write <field>=<column>; the fields are id, timestamp'],
  [['a.parquet', '--map', 'id=nope'], 'the file has no column "nope"; it has x'],
  [['ftp://host/a.csv'], 'cannot be read from ftp://'],
  [['broken.parquet'], 'broken.parquet: cannot be read: '],
])('%j is refused', async (args, message) => {
  await writeParquet('a.parquet', 'SELECT 1 AS x');
  await writeFile(file('broken.parquet'), 'no Parquet');
  const paths = args.map((arg) => (/^a\.|^broken/.test(arg) ? file(arg) : arg));
  const { code, stderr } = await load(paths);
  expect([code, stderr]).toEqual([1, expect.stringContaining(message)]);
});
