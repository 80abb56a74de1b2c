import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, describe, expect, test } from 'vitest';
import { readDefinitions } from '../../src/definitions/read.ts';
import { rejectFaults } from '../../src/errors.ts';
import { ENDPOINT, LOGS, ownDefinitions, QUERY, SOURCE, YAML } from './one.ts';

const { path, folders, write: writeAll, read } = await ownDefinitions();

const SQL = `SELECT
  count() AS count
FROM test_logs
WHERE project = @project
  AND @interval = 'day' AND timestamp < @now
`;

const write = (name: string, text: string) => writeAll({ [name]: text });
const faults = async () => (await read()).faults;

beforeEach(async () => {
  await rm(path, { recursive: true });
  await writeAll({ [YAML]: ENDPOINT, [QUERY]: SQL, [LOGS]: SOURCE });
});

/** What is wrong if a text of a file is another one: one fault, with its line and a part of what it says. */
async function expectFault(file: string, [from, to, line, message]: FaultCase): Promise<void> {
  const text = file === YAML ? ENDPOINT : SOURCE;
  expect(text).toContain(from);
  await write(file, text.replace(from, to));
  const [fault, ...others] = await faults();
  expect(others).toEqual([]);
  expect(fault).toMatch(new RegExp(`^${file}:${line}: `));
  expect(fault).toContain(message);
}
type FaultCase = readonly [from: string, to: string, line: number, message: string];

describe('definitions', () => {
  test('are read as they are written', async () => {
    const { definitions, faults: found } = await readDefinitions(folders);
    expect(found).toEqual([]);
    expect(definitions.endpoints).toMatchObject([
      {
        ...{ id: '3dea32a0-fb99-4b83-9c42-c900fca9aeb6', name: 'test.one', maxRows: 1000, sql: SQL },
        ...{ cachingSeconds: 900, warmingSeconds: 300, sandboxing: false },
      },
    ]);
    expect(definitions.sources).toMatchObject([{ name: 'test.logs', table: 'test_logs', retentionDays: 90 }]);
  });

  test.each([
    ['metadata.req.path', [['metadata', 'req', 'path']]],
    ['[metadata, http.status]', [['metadata', 'http.status']]],
    ['[metadata.a.path, path]', [['metadata', 'a', 'path'], ['path']]],
    ['[[http.status]]', [['http.status']]],
  ])('may name the paths of a column, and of the project, as %s', async (written, paths) => {
    const text = SOURCE.replace(/path: metadata.status|project: project/g, (field) =>
      field.replace(/:.*/, `: ${written}`),
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

  test('have a hash that changes with everything that shapes an answer', async () => {
    const hash = async () => (await readDefinitions(folders)).definitions.endpoints[0]?.hash;
    const hashes = [await hash(), await hash()];
    expect(hashes[0]).toBe(hashes[1]);
    await write(QUERY, `${SQL} `);
    hashes.push(await hash());
    await write(YAML, ENDPOINT.replace('1000', '999'));
    hashes.push(await hash());
    await write(LOGS, SOURCE.replace('metadata.status', 'metadata.other'));
    hashes.push(await hash());
    expect(new Set(hashes).size).toBe(4);
  });
});

const asParameter = (fields: string) => `parameters:\n  ${fields}`;

describe('an endpoint.yaml', () => {
  test.each<FaultCase>([
    ['description: A test.\n', '', 1, '"description" is missing; needed are id, name,'],
    ['name: test.one', 'name: Test One', 2, '"name" must be words of small letters'],
    ['caching: 900', 'caching: "15m"', 5, '"caching" must be a whole number of seconds from 1 to 604800'],
    ['caching: 900', 'caching 900', 5, '`caching 900` is not `name: value`; a colon may be missing'],
    ['caching: 900', 'caching', 5, '`caching` is not `name: value`; a colon may be missing'],
    ['A test.', 'A test: two', 3, 'the value is followed by another `name: value`; put the value in quotes'],
    ['caching: 900', 'caching: 900\nbucket: { column: t }', 6, '"bucket" is gone: write width and range of'],
    ['cache_warming: 300', 'cache_warming: 900', 6, '"cache_warming" must be less than "caching"'],
    ['sandboxing: false', 'sandboxing: false\nsql_dialect: studio', 8, '"sql_dialect" is the dialect of'],
    ['required: true', 'required: true, default: x', 9, '"default" of "project" can never be used'],
    ['  interval:', '  __proto__:', 10, '"__proto__" must be a parameter name of letters'],
    ['parameters:', asParameter('now: { type: string, description: x }'), 9, '"now" is bound by the service'],
    ['parameters:', asParameter('other: { type: string, description: x }'), 9, '@other is not used in'],
  ])('with %j as %j is rejected, at line %i', async (...fault) => {
    await expectFault(YAML, fault);
  });

  test('that is missing, too large or a bomb of aliases is rejected', async () => {
    await rm(join(path, YAML));
    expect(await faults()).toEqual([`${YAML}:1: is missing`]);
    await write(YAML, `${ENDPOINT}#${'x'.repeat(1024 * 1024)}`);
    expect(await faults()).toEqual([expect.stringMatching(/: is \d+ bytes; a definition file has at most/)]);
    const nine = (text: string) => Array.from({ length: 9 }, () => text).join(', ');
    const levels = Array.from({ length: 9 }, (_, i) => `a${i + 1}: &a${i + 1} [${nine(`*a${i}`)}]\n`);
    await write(YAML, `a0: &a0 x\n${levels.join('')}`);
    expect(await faults()).toHaveLength(1);
  });
});

const QUOTED = 'is in quotes, so it is plain text; write the parameter without quotes';

test.each([
  [undefined, ['1: is missing']],
  [' \n\t', ['1: is empty: it holds one SELECT']],
  [
    `${SQL}  AND @other = @pinned_other\n-- @fourth`,
    ['other', 'pinned_other'].map((name) => `6: @${name} is not declared under "parameters" of ${YAML}`),
  ],
  [SQL.replace('@project', "'@project'"), [`4: @project ${QUOTED}`]],
  [SQL.replace('@project', 'concat(\'%@project\') OR "@project"'), [`4: @project ${QUOTED}`]],
])('a query.sql that is %j is rejected', async (sql, messages) => {
  if (sql === undefined) await rm(join(path, QUERY));
  else await write(QUERY, sql);
  // Without a text there is nothing that an engine could judge.
  if (!sql?.trim()) expect((await readDefinitions(folders)).definitions.endpoints).toEqual([]);
  expect(await faults()).toEqual(messages.map((message) => `${QUERY}:${message}`));
});

const asBoolean = (fields: string) => `type: boolean, ${fields}`;
const linkTo = (url: string, field = 'id') =>
  `links: [{ label: Trace, field: '${field}', url: '${url}' }]\ncolumns:`;
const asAccepted = (rule: string) => `accepts: [${rule}]\ncolumns:`;

describe('a source', () => {
  const STATUS = 'type: integer, path: metadata.status,';
  test.each<FaultCase>([
    ['project: project', 'project: project\nretention: 5', 7, 'unknown field "retention"; known here: id,'],
    ['test_logs', 'test-logs', 3, '"table" must be a table name of small letters'],
    ['path: metadata.status', 'path: [a, a]', 8, '"path" of "status" names a twice'],
    ['  status:', '  timestamp:', 8, 'column "timestamp" is already a column of every source'],
    ['type: integer,', 'type: string, index: substrings,', 8, '"index" of "status" needs "otherwise"'],
    ['type: integer,', 'type: string, otherwise: ["not"],', 8, 'cannot name "not", which is a word of SQL'],
    ['columns:', "rollup: { every: 7000, values: ['count()'] }\ncolumns:", 7, '"every" must divide a day'],
    ['columns:', 'level: { column: status }\ncolumns:', 7, '"column" of "level" must name a column of texts'],
    [' path: metadata.status,', '', 8, '"status" needs "path", or "column" and "contains"'],
    ['type: integer,', asBoolean('column: text, contains: x,'), 8, 'but not both'],
    [STATUS, asBoolean('column: status, contains: x,'), 8, 'must name a column of texts in this file'],
    [STATUS, asBoolean('column: text, contains: { column: status },'), 8, 'a string or { column: project }'],
    ['columns:', linkTo('javascript:alert(1)'), 7, '"url" must be an address such as https'],
    ['columns:', linkTo('https://{value}/a'), 7, 'only behind the host'],
    ['columns:', asAccepted('{ protocol: gelf, label: a, equals: b }'), 7, 'must be one of loki, elasticsea'],
  ])('with %j as %j is rejected, at line %i', async (...fault) => {
    await expectFault(LOGS, fault);
  });
});

describe('the whole set', () => {
  test('rejects what two definitions share, also in another letter case', async () => {
    await write('endpoints/test.two/endpoint.yaml', ENDPOINT.replace('3dea32a0', '3DEA32A0'));
    await write('endpoints/test.two/query.sql', SQL);
    await write('sources/two.yaml', SOURCE.replace('test.logs', 'TEST.logs'));
    const taken = (place: string, what: string, by: string) => `${place}: ${what} is already taken by ${by}`;
    const two = 'endpoints/test.two/endpoint.yaml';
    expect(await faults()).toEqual([
      taken('sources/two.yaml:1', 'id "dca3fc05-a0a4-4270-92ac-ecfc72d28b68"', LOGS),
      taken('sources/two.yaml:2', 'name "TEST.logs"', LOGS),
      taken('sources/two.yaml:3', 'table "test_logs"', LOGS),
      taken(`${two}:1`, 'id "3DEA32A0-fb99-4b83-9c42-c900fca9aeb6"', YAML),
      taken(`${two}:2`, 'name "test.one"', YAML),
    ]);
  });

  test('reports every fault of every file at once, in the order of files and lines', async () => {
    await write(YAML, ENDPOINT.replace('max_rows: 1000', 'max_rows: 0').replace('name: test.one', 'name: 1'));
    await write('endpoints/test.two/endpoint.yaml', 'a: [');
    await write(LOGS, SOURCE.replace('90', '0'));
    const { faults: found } = await readDefinitions(folders);
    const places = [`${YAML}:2`, `${YAML}:4`, 'endpoints/test.two/endpoint.yaml:1'];
    const all = [...places, 'endpoints/test.two/query.sql:1', `${LOGS}:5`];
    const expected = all.map((place) => expect.stringContaining(`${path}/${place}: `));
    expect(() => rejectFaults(found)).toThrow(expect.objectContaining({ faults: expected }));
  });
});
