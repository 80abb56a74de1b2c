import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeEach, describe, expect, test } from 'vitest';
import { openCore } from '../../src/service/open-core.ts';
import { faultsIn } from '../support/faults.ts';
import { ownFolder, testConfig, writeFiles } from '../support/service.ts';

const folder = await ownFolder();
const config = testConfig(join(folder.path, 'data'), {
  TAILRACE_ENDPOINTS_DIR: join(folder.path, 'endpoints'),
  TAILRACE_SOURCES_DIR: join(folder.path, 'sources'),
});

const YAML = 'endpoints/test.one/endpoint.yaml';
const SQL = 'endpoints/test.one/query.sql';
const LOGS = 'sources/test.logs.yaml';
const FILES = {
  [YAML]: `id: 3dea32a0-fb99-4b83-9c42-c900fca9aeb6
name: test.one
description: A test.
max_rows: 10
caching: disabled
columns:
  count: { type: integer, description: A count. }
  id: { type: string, description: An id. }
`,
  [SQL]: `SELECT
  count() AS count,
  id
FROM test_logs
GROUP BY id
`,
  [LOGS]: `id: dca3fc05-a0a4-4270-92ac-ecfc72d28b68
name: test.logs
table: test_logs
description: A source.
project: project
columns:
  status: { type: integer, path: metadata.status, description: A status. }
`,
};

const write = (path: string, text: string) => writeFiles(folder.path, { [path]: text });
const writeAll = () => writeFiles(folder.path, FILES);

await writeAll();
const core = await openCore(config, 'a test');
beforeEach(async () => {
  await rm(config.endpointsDir, { recursive: true });
  await writeAll();
});
afterAll(() => core.close());

/** What a reload rejects, with the folder's own path left out. */
const faults = async () =>
  (await faultsIn(core.reload)).map((fault) => fault.replaceAll(`${folder.path}/`, ''));

const inIn = (levels: number) =>
  `SELECT count() AS count, id FROM test_logs WHERE ${'id IN (SELECT id FROM test_logs WHERE '.repeat(levels)}1${')'.repeat(levels)} GROUP BY id`;

test('a query whose analysis would end the engine is rejected by a reload', async () => {
  await write(SQL, inIn(24));
  expect(await faults()).toEqual([expect.stringContaining('TOO_DEEP_SUBQUERIES')]);
});

test.each([
  [
    'a wrong field, and a syntax error',
    [FILES[YAML].replace('max_rows: 10', 'max_rows: ten'), /"max_rows" must be/],
    [FILES[SQL].replace('GROUP BY', 'GROUP BY BY'), /query\.sql:5: Syntax error/],
  ],
  [
    'no YAML, and a function that no query may call, beside a parameter',
    [`${FILES[YAML]}: [`, /endpoint\.yaml:\d+: /],
    [FILES[SQL].replace('GROUP', 'WHERE file(@at) = 1 GROUP'), /query\.sql:1: must not call file/],
  ],
] as const)(
  'a query is parsed beside a faulty endpoint.yaml: %s',
  async (_, [yaml, yamlFault], [sql, sqlFault]) => {
    await write(YAML, yaml);
    await write(SQL, sql);
    const found = await faults();
    expect(found.filter((fault) => fault.startsWith(SQL))).toEqual([expect.stringMatching(sqlFault)]);
    expect(found.filter((fault) => fault.startsWith(YAML))[0]).toMatch(yamlFault);
  },
);

describe('a query', () => {
  const good = FILES[SQL];
  test.each([
    ['reads a table that is not there', good.replace('test_logs', 'test_log'), 4, /test_log\b/],
    ['reads a column that is not there', good.replace('  id', '  idd AS id'), 3, /idd/],
    ['has a syntax error', good.replace('GROUP BY', 'GROUP BY BY'), 5, /^Syntax error/],
    ['ends with a semicolon', `${good.trimEnd()};\n`, 5, /^must not end with a semicolon/],
    [
      'returns a column too many',
      good.replace('  id', '  id, 1 AS extra'),
      1,
      /^returns a column "extra", which .*endpoint.yaml does not declare under "columns"$/,
    ],
    [
      'lacks a declared column',
      'SELECT count() AS count FROM test_logs',
      1,
      /^returns no column "id", which .*endpoint.yaml declares$/,
    ],
    [
      'returns another type',
      good.replace('count()', 'toString(count())'),
      1,
      /^column "count" is of type String, which is not the integer that .*endpoint.yaml declares$/,
    ],
  ])('that %s is rejected', async (_, sql, line, message) => {
    await write(SQL, sql);
    const found = await faults();
    expect(found).toHaveLength(1);
    const [, at, text = ''] = new RegExp(`^${SQL}:(\\d+): ([^\n]+)$`).exec(found[0] ?? '') ?? [];
    expect(text).toMatch(message);
    expect(Number(at)).toBe(line);
  });

  test.each([
    ['ends with a comment', `${good}-- the end`],
    ['calls a table system', "SELECT count() AS count, 'system.one' AS id FROM test_logs AS system"],
  ])('that %s is taken', async (_, sql) => {
    await write(SQL, sql);
    expect(await faults()).toEqual([]);
    expect(core.registry.getEndpoint('test.one').sql).toBe(sql);
  });
});

describe('a reload', () => {
  test('takes the new set, tables and all', async () => {
    await write(LOGS, `${FILES[LOGS]}  level: { type: keyword, path: level, description: A level. }\n`);
    await write(SQL, FILES[SQL].replace('  id', '  ifNull(level, id) AS id').replace('BY id', 'BY 2'));
    expect(await faults()).toEqual([]);
    expect(core.registry.getEndpoint('test.one').sql).toContain('level');
    expect(core.registry.getSource('test.logs').columns).toHaveLength(2);
  });

  test.each([
    ['a definition', YAML, 'max_rows: 10', 'max_rows: 0'],
    ['a query', SQL, 'count()', 'countt()'],
    ['a source', LOGS, 'type: integer', 'type: string'],
  ] as const)(
    'with a fault in %s leaves the old set serving, the good changes with it',
    async (_, path, from, to) => {
      expect(await faults()).toEqual([]);
      const before = { endpoints: core.registry.endpoints, sources: core.registry.sources };
      await write(
        'endpoints/test.two/endpoint.yaml',
        FILES[YAML].replace('3dea32a0', '4dea32a0').replace('test.one', 'test.two'),
      );
      await write('endpoints/test.two/query.sql', FILES[SQL]);
      await write(path, FILES[path].replace(from, to));
      expect(await faults()).toHaveLength(1);
      expect(core.registry.endpoints).toBe(before.endpoints);
      expect(core.registry.sources).toBe(before.sources);
      expect(core.registry.findEndpoint('test.two')).toBeUndefined();

      await writeAll();
      expect(await faults()).toEqual([]);
      expect(core.registry.findEndpoint('4DEA32A0-fb99-4b83-9c42-c900fca9aeb6')?.name).toBe('test.two');
    },
  );

  test.each([
    ['status', /Column 'status' is not under aggregate function/],
    ['min(status), max(status)', /must be one aggregate over columns/],
    ['maxIf(status, timestamp < now())', /must not call now\(\): it depends on more than the event$/],
    ["any(file('/etc/passwd'))", /must not call file\(\)/],
    ['count()) FROM test_logs --', /Syntax error/],
    ['max(intDiv(1, status))', /must not fail for any event: Division by zero/],
  ])('rejects a rollup of %s', async (value, message) => {
    await write(
      LOGS,
      `${FILES[LOGS]}rollup:\n  every: 60\n  values:\n    - count()\n    - ${JSON.stringify(value)}\n`,
    );
    const found = await faults();
    expect(found).toHaveLength(1);
    expect(found[0]).toMatch(/^sources\/test\.logs\.yaml:12: "values" of "rollup": /);
    expect(found[0]).toMatch(message);
    expect(found[0]).not.toMatch(/CAST|defaultValue/);
  });

  test('that is rejected changes nothing of the tables, so that a corrected set is taken', async () => {
    expect(await faults()).toEqual([]);
    const tables = () =>
      core.engine.inspect(
        `SELECT name, create_table_query FROM system.tables WHERE database = 'tailrace' ORDER BY name`,
      );
    const before = await tables();
    const wrong = `${FILES[LOGS]}  cost: { type: integer, path: cost, description: A cost. }\nretention_days: 1\n`;
    await write(LOGS, wrong);
    await write(
      'sources/new.logs.yaml',
      FILES[LOGS].replace('dca3fc05', 'eca3fc05').replace('test.logs', 'new.logs').replace('test_', 'new_'),
    );
    await write(SQL, 'SELECT broken');
    expect(await faults()).toHaveLength(1);
    expect(await tables()).toEqual(before);

    await write(SQL, FILES[SQL]);
    await write(LOGS, wrong.replace('cost: { type: integer', 'cost: { type: number'));
    expect(await faults()).toEqual([]);
    expect(await tables()).toEqual([
      expect.objectContaining({ name: 'new_logs' }),
      expect.objectContaining({ create_table_query: expect.stringContaining('toIntervalDay(1) ') }),
    ]);
    await rm(join(folder.path, 'sources/new.logs.yaml'));
  });
});
