import { mkdir, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { afterAll, beforeEach, describe, expect, test } from 'vitest';
import { formatFault, refuseFaults } from '../../src/definitions/fault.ts';
import { readDefinitions } from '../../src/definitions/read.ts';
import { InputError } from '../../src/errors.ts';
import { temporaryFolder } from '../support/service.ts';

const folder = await temporaryFolder();
afterAll(folder.remove);
const folders = { endpointsDir: join(folder.path, 'endpoints'), sourcesDir: join(folder.path, 'sources') };

const ENDPOINT = `id: 3dea32a0-fb99-4b83-9c42-c900fca9aeb6
name: test.one
description: A test.
max_rows: 1000
caching: 900
cache_warming: 300
query_sandboxing: false
parameters:
  project: { type: string, required: true, description: A project. }
  interval:
    type: enum
    values: [hour, day]
    default: day
    otherwise: day
    description: A width.
columns:
  count: { type: integer, description: A count. }
`;
const SQL = `SELECT
  count() AS count
FROM test_logs
WHERE project = @project
  AND @interval = 'day' AND timestamp < @now
`;
const SOURCE = `id: dca3fc05-a0a4-4270-92ac-ecfc72d28b68
name: test.logs
table: test_logs
description: A source.
retention_days: 90
project: project
columns:
  status: { type: integer, path: metadata.status, description: A status. }
  text: { type: string, path: text, description: A text. }
`;

async function write(path: string, text: string | Buffer): Promise<void> {
  const file = join(folder.path, path);
  await mkdir(dirname(file), { recursive: true });
  await writeFile(file, text);
}

/** What is wrong, with the folder's own path left out. */
async function faults(): Promise<string[]> {
  const reading = await readDefinitions(folders);
  return reading.faults.map((fault) => formatFault(fault).replaceAll(`${folder.path}/`, ''));
}

beforeEach(async () => {
  await rm(folder.path, { recursive: true });
  await write('endpoints/test.one/endpoint.yaml', ENDPOINT);
  await write('endpoints/test.one/query.sql', SQL);
  await write('sources/test.logs.yaml', SOURCE);
});

const YAML = 'endpoints/test.one/endpoint.yaml';
const LOGS = 'sources/test.logs.yaml';
const UUID = 'a UUID, such as 7f0c3a52-5f0b-4a57-9b1c-2f6f3f2b9d10';

describe('definitions', () => {
  test('are read as they are written', async () => {
    const { definitions, faults: found } = await readDefinitions(folders);
    expect(found).toEqual([]);
    expect(definitions.endpoints).toMatchObject([
      {
        id: '3dea32a0-fb99-4b83-9c42-c900fca9aeb6',
        name: 'test.one',
        maxRows: 1000,
        cachingSeconds: 900,
        warmingSeconds: 300,
        sandboxing: false,
        sql: SQL,
      },
    ]);
    expect(definitions.sources).toMatchObject([{ name: 'test.logs', table: 'test_logs', retentionDays: 90 }]);
  });

  test('have the default of a timestamp in the form that the SQL is promised', async () => {
    const since = '  since: { type: timestamp, default: "2026-11-20T08:00:00+01:00", description: x }';
    await write(YAML, ENDPOINT.replace('  interval:', `${since}\n  interval:`));
    await write('endpoints/test.one/query.sql', `${SQL} AND timestamp > @since`);
    const { definitions, faults: found } = await readDefinitions(folders);
    expect(found).toEqual([]);
    expect(definitions.endpoints[0]?.parameters).toContainEqual(
      expect.objectContaining({ name: 'since', fallback: '2026-11-20 07:00:00.000000' }),
    );
  });

  test.each([
    ['metadata.req.path', [['metadata', 'req', 'path']]],
    ['[metadata, http.status]', [['metadata', 'http.status']]],
    [
      '[metadata.req.path, metadata.request.path, path]',
      [['metadata', 'req', 'path'], ['metadata', 'request', 'path'], ['path']],
    ],
    [
      '[[metadata, http.status], metadata.status]',
      [
        ['metadata', 'http.status'],
        ['metadata', 'status'],
      ],
    ],
    ['[[http.status]]', [['http.status']]],
    ['[status, metadata.status]', [['status'], ['metadata', 'status']]],
  ])('may name the paths of a column, and of the project, as %s', async (written, paths) => {
    const text = SOURCE.replace('path: metadata.status', `path: ${written}`).replace(
      'project: project',
      `project: ${written}`,
    );
    await write(LOGS, text);
    const { definitions, faults: found } = await readDefinitions(folders);
    expect(found).toEqual([]);
    const [source] = definitions.sources;
    const [column] = source?.columns ?? [];
    expect([column?.path, ...(column?.otherPaths ?? [])]).toEqual(paths);
    expect(source?.projectPaths.slice(0, paths.length)).toEqual(paths);
    expect(source?.projectPaths).toContainEqual(['project']);
  });

  test.each([
    ['[]', '"path" must be member names joined by dots; a list'],
    ['[a, a]', '"path" of "status" names a twice'],
    ['[a, b, c, d, e, f, g, h, i, j, k]', '"path" of "status" must be at most 10 paths, not 11'],
    ['[[]]', 'must be member names'],
    ['[1]', 'must be member names'],
  ])('refuse a column with the path %s', async (written, message) => {
    await write(LOGS, SOURCE.replace('path: metadata.status', `path: ${written}`));
    expect((await faults()).join('\n')).toContain(message.split(';')[0]);
  });

  test('have names that differ as tools of agents and in OpenAPI, too', async () => {
    for (const [name, id] of [
      ['test-one', '4'],
      ['test_one', '5'],
    ] as const) {
      await write(
        `endpoints/${name}/endpoint.yaml`,
        ENDPOINT.replace('3dea', `${id}dea`).replace('test.one', name),
      );
      await write(`endpoints/${name}/query.sql`, SQL);
    }
    const rest = 'are both test_one for agents and in OpenAPI, which have neither . nor -; take another name';
    expect(await faults()).toEqual([
      `endpoints/test.one/endpoint.yaml:2: name "test.one" and "test-one" ${rest}`,
      `endpoints/test_one/endpoint.yaml:2: name "test_one" and "test-one" ${rest}`,
    ]);
  });

  test('have a hash that changes with everything that shapes an answer', async () => {
    const hash = async () => (await readDefinitions(folders)).definitions.endpoints[0]?.hash;
    const hashes = [await hash(), await hash()];
    expect(hashes[0]).toBe(hashes[1]);
    await write('endpoints/test.one/query.sql', `${SQL} `);
    hashes.push(await hash());
    await write(YAML, ENDPOINT.replace('1000', '999'));
    hashes.push(await hash());
    await write(LOGS, SOURCE.replace('metadata.status', 'metadata.other'));
    hashes.push(await hash());
    expect(new Set(hashes).size).toBe(4);
  });

  test.each([
    [
      'disabled caching',
      'caching: 900\ncache_warming: 300',
      'caching: disabled',
      { cachingSeconds: undefined, warmingSeconds: undefined },
    ],
    [
      'caching without warming',
      'cache_warming: 300\n',
      '',
      { cachingSeconds: 900, warmingSeconds: undefined },
    ],
    ['sandboxing left out', 'query_sandboxing: false\n', '', { sandboxing: false }],
    ['an id in capitals', '3dea32a0', '3DEA32A0', { id: '3dea32a0-fb99-4b83-9c42-c900fca9aeb6' }],
  ])('may have %s', async (_, from, to, fields) => {
    await write(YAML, ENDPOINT.replace(from, to));
    const reading = await readDefinitions(folders);
    expect(reading.faults).toEqual([]);
    expect(reading.definitions.endpoints).toMatchObject([fields]);
  });
});

describe('an endpoint.yaml', () => {
  const known =
    'id, name, description, max_rows, caching, cache_warming, query_sandboxing, strict, sql_dialect, bucket, cursor, parameters, columns, chart';
  const name =
    'words of small letters, digits, - and _, joined by dots, at most 100 characters, such as logs.all';
  const cache = 'a whole number of seconds from 1 to 604800';
  test.each([
    [
      'an unknown field',
      'max_rows: 1000',
      'max_rows: 1000\nmax_row: 5',
      5,
      `unknown field "max_row"; known here: ${known}`,
    ],
    [
      'a missing field',
      'description: A test.\n',
      '',
      1,
      '"description" is missing; needed are id, name, description, max_rows, caching, columns',
    ],
    ['a field twice', 'caching: 900', 'name: other\ncaching: 900', 5, 'Map keys must be unique'],
    ['a bad UUID', '3dea32a0-', 'x-', 1, `"id" must be ${UUID}, not "x-fb99-4b83-9c42-c900fca9aeb6"`],
    ['a bad name', 'name: test.one', 'name: Test One', 2, `"name" must be ${name}, not "Test One"`],
    ['a name that is no text', 'name: test.one', 'name: 12', 2, `"name" must be ${name}, not 12`],
    [
      'no rows',
      'max_rows: 1000',
      'max_rows: 0',
      4,
      '"max_rows" must be a whole number from 1 to 1000000, not 0',
    ],
    [
      'a duration as text',
      'caching: 900',
      'caching: "15m"',
      5,
      `"caching" must be ${cache}, or "disabled", not "15m"`,
    ],
    [
      'a bare duration',
      'cache_warming: 300',
      'cache_warming: 5m',
      6,
      `"cache_warming" must be ${cache}, not "5m"`,
    ],
    [
      'a broken duration',
      'caching: 900',
      'caching: 0.5',
      5,
      `"caching" must be ${cache}, or "disabled", not 0.5`,
    ],
    [
      'warming without caching',
      'caching: 900',
      'caching: disabled',
      6,
      '"cache_warming" needs caching; remove it or give "caching" in seconds',
    ],
    [
      'warming no sooner than the end',
      'cache_warming: 300',
      'cache_warming: 900',
      6,
      '"cache_warming" must be less than "caching" (900 seconds), or an answer expires before its refresh',
    ],
    [
      'sandboxing without a view',
      'query_sandboxing: false',
      'query_sandboxing: true',
      7,
      '"query_sandboxing" needs a query with views that callers may read: WITH name AS (SELECT …) SELECT …',
    ],
    [
      'a dialect without sandboxing',
      'query_sandboxing: false',
      'query_sandboxing: false\nsql_dialect: bigquery',
      8,
      '"sql_dialect" is the dialect of the SELECTs that callers send if "query_sandboxing" is true',
    ],
    [
      'a dialect that is not known',
      'query_sandboxing: false',
      'query_sandboxing: false\nsql_dialect: sqlite',
      8,
      '"sql_dialect" must be one of bigquery, studio, not "sqlite"',
    ],
    [
      'an enum without values',
      '    values: [hour, day]\n    default: day\n    otherwise: day\n',
      '',
      10,
      '"values" of "interval" is missing: an enum lists what is allowed',
    ],
    [
      'a default that is no value',
      'default: day',
      'default: week',
      13,
      '"default" of "interval" must be one of hour, day, not "week"',
    ],
    [
      'an otherwise that is no value',
      'otherwise: day',
      'otherwise: week',
      14,
      '"otherwise" of "interval" must be one of hour, day, not "week"',
    ],
    [
      'values without an enum',
      'type: string, required: true',
      'type: string, values: [a]',
      9,
      '"values" of "project" needs type enum or list, not string',
    ],
    [
      'a default of a required one',
      'required: true',
      'required: true, default: x',
      9,
      '"default" of "project" can never be used, since "project" is required; remove one of the two',
    ],
    [
      'a parameter of an unknown type',
      'type: string',
      'type: text',
      9,
      '"type" must be one of string, enum, timestamp, regex, integer, number, boolean, date, uuid, list, not "text"',
    ],
    [
      'a parameter with a bad name',
      '  interval:',
      '  inter-val:',
      10,
      '"inter-val" must be a parameter name of letters, digits and underscores',
    ],
    [
      'a default that is no timestamp',
      'type: string, required: true',
      'type: timestamp, default: yesterday',
      9,
      '"default" of "project" must be an ISO 8601 timestamp, such as 2026-11-20T07:00:00Z, not "yesterday"',
    ],
    [
      'a parameter named __proto__',
      '  interval:',
      '  __proto__:',
      10,
      '"__proto__" must be a parameter name of letters, digits and underscores',
    ],
    [
      'the parameter now',
      'parameters:',
      'parameters:\n  now: { type: string, description: x }',
      9,
      '"now" is bound by the service to the instant of the query; take another name',
    ],
    [
      'a parameter whose name is for the pins of keys',
      'parameters:',
      'parameters:\n  pinned_x: { type: string, description: x }',
      9,
      '"pinned_x" must not begin with pinned_: the service binds such names to the pins of keys',
    ],
    [
      'a parameter whose name is for the instants of a translation',
      'parameters:',
      'parameters:\n  sql_at_x: { type: string, description: x }',
      9,
      '"sql_at_x" must not begin with sql_at_: the service binds such names if there is a "sql_dialect"',
    ],
    [
      'a parameter that is not used',
      'parameters:',
      'parameters:\n  other: { type: string, description: x }',
      9,
      'parameter "other" is declared but @other is not used in endpoints/test.one/query.sql',
    ],
    [
      'no columns',
      'columns:\n  count: { type: integer, description: A count. }\n',
      'columns: {}\n',
      16,
      '"columns" must be a column name of letters, digits and underscores, not {}',
    ],
    ['broken YAML', 'name: test.one', 'name: "test.one', 2, /^Missing closing "quote/],
  ])('with %s is refused', async (_, from, to, line, message) => {
    expect(ENDPOINT).toContain(from);
    await write(YAML, ENDPOINT.replace(from, to));
    const [first = '', ...rest] = await faults();
    if (typeof message === 'string') expect([first, ...rest]).toEqual([`${YAML}:${line}: ${message}`]);
    else expect(first).toMatch(new RegExp(`^${YAML}:\\d+: ${message.source.slice(1)}`));
  });

  test.each([
    ['that is empty', ''],
    ['that is a list', '- a'],
    ['that is a text', 'text'],
  ])('%s is refused', async (_, text) => {
    await write(YAML, text);
    const found = await faults();
    expect(found).not.toEqual([]);
    for (const fault of found) expect(fault).toMatch(/^endpoints\/test.one\/endpoint.yaml:1: /);
  });

  test('that is missing, too large or a bomb of aliases is refused', async () => {
    await rm(join(folder.path, YAML));
    expect(await faults()).toEqual([`${YAML}:1: is missing`]);
    await write(YAML, `${ENDPOINT}#${'x'.repeat(1024 * 1024)}`);
    expect(await faults()).toEqual([
      expect.stringMatching(/: is \d+ bytes; a definition file has at most 1048576$/),
    ]);
    const levels = Array.from(
      { length: 9 },
      (__, i) => `a${i + 1}: &a${i + 1} [${Array.from({ length: 9 }, () => `*a${i}`).join(', ')}]`,
    );
    await write(YAML, `a0: &a0 x\n${levels.join('\n')}\n`);
    expect(await faults()).toHaveLength(1);
  });
});

describe('a query.sql', () => {
  test.each([
    ['that is missing', undefined, ['1: is missing']],
    ['that is empty', ' \n\t', ['1: is empty: it holds one SELECT']],
    [
      'with @names that are not declared',
      `${SQL}  AND @other = @third AND @pinned_other = ''\n-- @fourth`,
      [
        `6: @other is not declared under "parameters" of ${YAML}`,
        `6: @third is not declared under "parameters" of ${YAML}`,
        `6: @pinned_other is not declared under "parameters" of ${YAML}`,
      ],
    ],
  ])('%s is refused', async (_, sql, messages) => {
    if (sql === undefined) await rm(join(folder.path, 'endpoints/test.one/query.sql'));
    else await write('endpoints/test.one/query.sql', sql);
    // Without a text there is nothing that an engine could judge.
    const { definitions } = await readDefinitions(folders);
    expect(definitions.endpoints).toEqual([]);
    expect(await faults()).toEqual(messages.map((message) => `endpoints/test.one/query.sql:${message}`));
  });
});

describe('a source', () => {
  test.each([
    [
      'an unknown field',
      'project: project',
      'project: project\nretention: 5',
      7,
      /^unknown field "retention"; known here: id, name, table/,
    ],
    [
      'a missing field',
      'table: test_logs\n',
      '',
      1,
      /^"table" is missing; needed are id, name, table, description, project$/,
    ],
    ['a bad UUID', 'dca3fc05-', 'x-', 1, /^"id" must be a UUID/],
    [
      'a bad table',
      'test_logs',
      'test-logs',
      3,
      /^"table" must be a table name of small letters, digits and underscores, not "test-logs"$/,
    ],
    [
      'a bad retention',
      '90',
      '90d',
      5,
      /^"retention_days" must be a whole number of days from 1 to 36500, not "90d"$/,
    ],
    [
      'a column of every source',
      '  status:',
      '  timestamp:',
      8,
      /^column "timestamp" is already a column of every source; take another name$/,
    ],
    [
      'an index of numbers',
      'type: integer,',
      'type: integer, otherwise: [], index: substrings,',
      8,
      /^"otherwise" of "status" needs type string, not integer$/,
    ],
    [
      'an index of texts that may be null',
      'type: integer,',
      'type: string, index: substrings,',
      8,
      /^"index" of "status" needs "otherwise", since texts that may be null have no index; \[\] makes them empty$/,
    ],
    [
      'another index',
      'type: integer,',
      'type: string, otherwise: [], index: words,',
      8,
      /^"index" must be substrings, the only kind of index, not "words"$/,
    ],
    [
      'a column that stands in for itself',
      'type: integer,',
      'type: string, otherwise: [project, status],',
      8,
      /^"otherwise" of "status" must name project or columns of texts that have no "otherwise", not "status"$/,
    ],
    [
      'a column that the engine would read as an operator',
      'type: integer,',
      'type: string, otherwise: ["not"],',
      8,
      /^"otherwise" of "status" cannot name "not", which is a word of SQL$/,
    ],
    [
      'an index of a column that the engine would read as a value',
      'status: { type: integer,',
      '"true": { type: string, otherwise: [], index: substrings,',
      8,
      /^"true" is a word of SQL that no index can name; take another name$/,
    ],
    [
      'a rollup with intervals that span two days',
      'columns:',
      "rollup: { every: 7000, values: ['count()'] }\ncolumns:",
      7,
      /^"every" must divide a day of 86400 seconds, as 300 and 3600 do, not 7000$/,
    ],
    [
      'a rollup by a column that the file does not have',
      'columns:',
      "rollup: { every: 60, by: [toString], values: ['count()'] }\ncolumns:",
      7,
      /^"by" must name columns of this file, not "toString"$/,
    ],
    [
      'a rollup of nothing',
      'columns:',
      'rollup: { every: 60, values: [] }\ncolumns:',
      7,
      /^"values" must be a list of 1 to 32 aggregates of ClickHouse SQL, not \[\]$/,
    ],
    [
      'a rollup by a column that the engine would read as a value',
      'columns:\n',
      "rollup: { every: 60, by: ['true'], values: ['count()'] }\ncolumns:\n  'true': { type: boolean, path: a, description: A. }\n",
      7,
      /^"by" cannot name "true", which is a word of SQL$/,
    ],
    [
      'a level by a column that is no text',
      'columns:',
      'level: { column: status }\ncolumns:',
      7,
      /^"column" of "level" must name a column of texts in this file, not "status"$/,
    ],
    [
      'a level by a status that the file does not have',
      'columns:',
      'level: { status: toString }\ncolumns:',
      7,
      /^"status" of "level" must name a column of type integer in this file, not "toString"$/,
    ],
    [
      'a level by nothing',
      'columns:',
      'level: { warn_from: 400 }\ncolumns:',
      7,
      /^"level" needs "column", a column of texts, or "status", a column of integers$/,
    ],
    [
      'a level with statuses in the wrong order',
      'columns:',
      'level: { status: status, warn_from: 600 }\ncolumns:',
      7,
      /^"warn_from" of "level" must be at most "error_from", which is 500$/,
    ],
    [
      'a level that is a text',
      'columns:',
      'level: status\ncolumns:',
      7,
      /^"level" must be a map with "column", a column of texts, or "status", a column of integers, or both, not "status"$/,
    ],
    [
      'a column of an unknown type',
      'type: integer',
      'type: int',
      8,
      /^"type" must be one of string, keyword, integer, number, boolean, not "int"$/,
    ],
    [
      'a column without a path',
      ' path: metadata.status,',
      '',
      8,
      /^"status" needs "path", or "column" and "contains"$/,
    ],
    [
      'a column that has both a path and another column',
      'type: integer,',
      'type: boolean, column: text, contains: x,',
      8,
      /^"status" has "path", or "column" and "contains", but not both$/,
    ],
    [
      'a computed column that is no boolean',
      'path: metadata.status,',
      'column: text, contains: x,',
      8,
      /^"contains" of "status" needs type boolean, not integer$/,
    ],
    [
      'a computed column without the text to find',
      'type: integer, path: metadata.status,',
      'type: boolean, column: text,',
      8,
      /^"column" of "status" needs "contains", the text to find$/,
    ],
    [
      'a computed column without the column to search',
      'type: integer, path: metadata.status,',
      'type: boolean, contains: x,',
      8,
      /^"contains" of "status" needs "column", the column to search$/,
    ],
    [
      'a computed column over one that is no text',
      'type: integer, path: metadata.status,',
      'type: boolean, column: status, contains: x,',
      8,
      /^"column" of "status" must name a column of texts in this file, not "status"$/,
    ],
    [
      'a computed column over one that the file does not have',
      'type: integer, path: metadata.status,',
      'type: boolean, column: toString, contains: x,',
      8,
      /^"column" of "status" must name a column of texts in this file, not "toString"$/,
    ],
    [
      'an empty text to find',
      'type: integer, path: metadata.status,',
      "type: boolean, column: text, contains: '',",
      8,
      /^"contains" must be a text of 1 to 100 characters, or { column: project }, not ""$/,
    ],
    [
      'a text to find in each row that is not its project',
      'type: integer, path: metadata.status,',
      'type: boolean, column: text, contains: { column: status },',
      8,
      /^"contains" of "status" must be a text or { column: project }$/,
    ],
  ])('with %s is refused', async (_, from, to, line, message) => {
    await write(LOGS, SOURCE.replace(from, to));
    const found = await faults();
    expect(found).toHaveLength(1);
    const [, file, at, text = ''] = /^(.*?):(\d+): (.*)$/.exec(found[0] ?? '') ?? [];
    expect([file, Number(at)]).toEqual([LOGS, line]);
    expect(text).toMatch(message);
  });

  test('takes a path as a list where a name has a dot', async () => {
    await write(LOGS, SOURCE.replace('metadata.status', '[metadata, "a.b"]'));
    const { definitions } = await readDefinitions(folders);
    expect(definitions.sources[0]?.columns[0]?.path).toEqual(['metadata', 'a.b']);
  });
});

describe('the whole set', () => {
  test('refuses what two definitions share, also in another letter case', async () => {
    await write('endpoints/test.two/endpoint.yaml', ENDPOINT.replace('3dea32a0', '3DEA32A0'));
    await write('endpoints/test.two/query.sql', SQL);
    await write('sources/two.yaml', SOURCE.replace('test.logs', 'TEST.logs'));
    expect(await faults()).toEqual([
      `sources/two.yaml:1: id "dca3fc05-a0a4-4270-92ac-ecfc72d28b68" is already taken by ${LOGS}`,
      `sources/two.yaml:2: name "TEST.logs" is already taken by ${LOGS}`,
      `sources/two.yaml:3: table "test_logs" is already taken by ${LOGS}`,
      `endpoints/test.two/endpoint.yaml:1: id "3DEA32A0-fb99-4b83-9c42-c900fca9aeb6" is already taken by ${YAML}`,
      `endpoints/test.two/endpoint.yaml:2: name "test.one" is already taken by ${YAML}`,
    ]);
  });

  test('refuses a name that is the id of another definition, not one that is its own', async () => {
    const other = '4dea32a0-fb99-4b83-9c42-c900fca9aeb6';
    const own = ENDPOINT.replace('3dea32a0-fb99-4b83-9c42-c900fca9aeb6', other).replace('test.one', other);
    await write('endpoints/test.two/endpoint.yaml', own);
    await write('endpoints/test.two/query.sql', SQL);
    expect(await faults()).toEqual([]);
    await write(YAML, ENDPOINT.replace('name: test.one', `name: ${other}`));
    await write('endpoints/test.two/endpoint.yaml', own.replace(`name: ${other}`, 'name: test.two'));
    expect(await faults()).toEqual([
      `${YAML}:2: name "${other}" is already taken by endpoints/test.two/endpoint.yaml`,
    ]);
  });

  test('takes files and folders that are links, as a mounted configuration has them', async () => {
    await mkdir(join(folder.path, 'real'));
    await rename(join(folder.path, LOGS), join(folder.path, 'real/test.logs.yaml'));
    await rename(join(folder.path, 'endpoints/test.one'), join(folder.path, 'real/test.one'));
    await symlink('../real/test.logs.yaml', join(folder.path, LOGS));
    await symlink('../real/test.one', join(folder.path, 'endpoints/test.one'));
    const { definitions, faults: found } = await readDefinitions(folders);
    expect(found).toEqual([]);
    expect([definitions.sources.length, definitions.endpoints.length]).toEqual([1, 1]);
  });

  test('reports every fault of every file at once, in the order of files and lines', async () => {
    await write(YAML, ENDPOINT.replace('max_rows: 1000', 'max_rows: 0').replace('name: test.one', 'name: 1'));
    await write('endpoints/test.two/endpoint.yaml', 'a: [');
    await write('sources/test.logs.yaml', SOURCE.replace('90', '0'));
    const { faults: found } = await readDefinitions(folders);
    const refuse = () => refuseFaults(found);
    expect(refuse).toThrow(InputError);
    const places = found
      .map((fault) => `${fault.file.slice(folder.path.length + 1)}:${fault.line}`)
      .toSorted();
    expect(new Set(places)).toEqual(
      new Set([
        `${YAML}:2`,
        `${YAML}:4`,
        'endpoints/test.two/endpoint.yaml:1',
        'endpoints/test.two/query.sql:1',
        `${LOGS}:5`,
      ]),
    );
    try {
      refuse();
    } catch (error) {
      const lines = error instanceof InputError ? error.faults : [];
      expect(lines.map((line) => line.split(': ')[0]?.slice(folder.path.length + 1))).toEqual(places);
    }
  });

  test('follows links, and reports those that lead nowhere', async () => {
    const linked = {
      endpointsDir: join(folder.path, 'links'),
      sourcesDir: join(folder.path, 'source-links'),
    };
    await mkdir(linked.endpointsDir);
    await mkdir(linked.sourcesDir);
    await symlink(join(folder.path, 'endpoints/test.one'), join(linked.endpointsDir, 'one'));
    await symlink(join(folder.path, LOGS), join(linked.sourcesDir, 'test.logs.yaml'));
    const { definitions, faults: found } = await readDefinitions(linked);
    expect(found).toEqual([]);
    expect(definitions).toMatchObject({
      endpoints: [{ name: 'test.one' }],
      sources: [{ name: 'test.logs' }],
    });

    await symlink('nowhere.yaml', join(linked.sourcesDir, 'gone.yaml'));
    const gone = { file: join(linked.sourcesDir, 'gone.yaml'), line: 1, message: 'is missing' };
    expect((await readDefinitions(linked)).faults).toEqual([gone]);
  });

  test('refuses folders that are missing, and sources that are none', async () => {
    await rm(folder.path, { recursive: true });
    await mkdir(folder.path);
    expect(await faults()).toEqual([
      expect.stringMatching(/^sources:1: cannot be read as a folder: ENOENT/),
      expect.stringMatching(/^endpoints:1: cannot be read as a folder: ENOENT/),
    ]);
    await mkdir(folders.sourcesDir);
    await mkdir(folders.endpointsDir);
    expect(await faults()).toEqual([
      'sources:1: has no source: add a <wire name>.yaml, as docs/sources.md shows',
    ]);
  });
});
