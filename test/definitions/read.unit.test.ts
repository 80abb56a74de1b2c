import { mkdir, rm, symlink, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { afterAll, beforeEach, describe, expect, test } from 'vitest';
import { accepts, createAccepts } from '../../src/definitions/accepts.ts';
import { formatFault, refuseFaults } from '../../src/definitions/fault.ts';
import { readDefinitions } from '../../src/definitions/read.ts';
import type { Source } from '../../src/definitions/source.ts';
import { parseEvent } from '../../src/ingest/event.ts';
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

  test('have names that differ as tools of agents and in OpenAPI, too', async () => {
    const other = ENDPOINT.replace('3dea', '4dea').replace('test.one', 'test-one');
    await write('endpoints/test-one/endpoint.yaml', other);
    await write('endpoints/test-one/query.sql', SQL);
    expect(await faults()).toEqual([
      expect.stringContaining('"test.one" and "test-one" are both test_one for agents and in OpenAPI'),
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
});

const asParameter = (fields: string) => `parameters:\n  ${fields}`;

describe('an endpoint.yaml', () => {
  test.each<FaultCase>([
    ['max_rows: 1000', 'max_rows: 1000\nmax_row: 5', 5, 'unknown field "max_row"; known here: id, name,'],
    ['description: A test.\n', '', 1, '"description" is missing; needed are id, name,'],
    ['caching: 900', 'name: other\ncaching: 900', 5, 'Map keys must be unique'],
    ['3dea32a0-', 'x-', 1, '"id" must be a UUID'],
    ['name: test.one', 'name: Test One', 2, '"name" must be words of small letters'],
    ['caching: 900', 'caching: "15m"', 5, '"caching" must be a whole number of seconds from 1 to 604800'],
    ['cache_warming: 300', 'cache_warming: 900', 6, '"cache_warming" must be less than "caching"'],
    ['sandboxing: false', 'sandboxing: false\nsql_dialect: studio', 8, '"sql_dialect" is the dialect of'],
    ['required: true', 'required: true, default: x', 9, '"default" of "project" can never be used'],
    ['  interval:', '  __proto__:', 10, '"__proto__" must be a parameter name of letters'],
    ['parameters:', asParameter('now: { type: string, description: x }'), 9, '"now" is bound by the service'],
    ['parameters:', asParameter('pinned_x: { type: string, description: x }'), 9, 'begin with pinned_'],
    ['parameters:', asParameter('other: { type: string, description: x }'), 9, '@other is not used in'],
    ['description: A test.', 'description: "A test.', 18, 'Missing closing'],
  ])('with %j as %j is refused, at line %i', async (...fault) => {
    await expectFault(YAML, fault);
  });

  test('that is missing, too large or a bomb of aliases is refused', async () => {
    await rm(join(folder.path, YAML));
    expect(await faults()).toEqual([`${YAML}:1: is missing`]);
    await write(YAML, `${ENDPOINT}#${'x'.repeat(1024 * 1024)}`);
    expect(await faults()).toEqual([expect.stringMatching(/: is \d+ bytes; a definition file has at most/)]);
    const nine = (text: string) => Array.from({ length: 9 }, () => text).join(', ');
    const levels = Array.from({ length: 9 }, (_, i) => `a${i + 1}: &a${i + 1} [${nine(`*a${i}`)}]\n`);
    await write(YAML, `a0: &a0 x\n${levels.join('')}`);
    expect(await faults()).toHaveLength(1);
  });
});

describe('a query.sql', () => {
  test.each([
    [undefined, ['1: is missing']],
    [' \n\t', ['1: is empty: it holds one SELECT']],
    [
      `${SQL}  AND @other = @pinned_other\n-- @fourth`,
      ['other', 'pinned_other'].map((name) => `6: @${name} is not declared under "parameters" of ${YAML}`),
    ],
  ])('that is %j is refused', async (sql, messages) => {
    if (sql === undefined) await rm(join(folder.path, 'endpoints/test.one/query.sql'));
    else await write('endpoints/test.one/query.sql', sql);
    // Without a text there is nothing that an engine could judge.
    expect((await readDefinitions(folders)).definitions.endpoints).toEqual([]);
    expect(await faults()).toEqual(messages.map((message) => `endpoints/test.one/query.sql:${message}`));
  });
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
    ['path: metadata.status', 'path: []', 8, '"path" must be member names joined by dots'],
    ['path: metadata.status', 'path: [a, a]', 8, '"path" of "status" names a twice'],
    ['  status:', '  timestamp:', 8, 'column "timestamp" is already a column of every source'],
    ['type: integer,', 'type: string, index: substrings,', 8, '"index" of "status" needs "otherwise"'],
    ['type: integer,', 'type: string, otherwise: ["not"],', 8, 'cannot name "not", which is a word of SQL'],
    ['columns:', "rollup: { every: 7000, values: ['count()'] }\ncolumns:", 7, '"every" must divide a day'],
    ['columns:', 'level: { column: status }\ncolumns:', 7, '"column" of "level" must name a column of texts'],
    ['columns:', 'level: { warn_from: 400 }\ncolumns:', 7, '"level" needs "column", a column of texts, or'],
    [' path: metadata.status,', '', 8, '"status" needs "path", or "column" and "contains"'],
    ['type: integer,', asBoolean('column: text, contains: x,'), 8, 'but not both'],
    [STATUS, asBoolean('column: status, contains: x,'), 8, 'must name a column of texts in this file'],
    [STATUS, asBoolean('column: text, contains: { column: status },'), 8, 'a text or { column: project }'],
    ['columns:', linkTo('javascript:alert(1)'), 7, '"url" must be an address such as https'],
    ['columns:', linkTo('https://{value}/a'), 7, 'only behind the host'],
    ['columns:', linkTo('https://a.example', 'id:*'), 7, '"field" must be the name of a field'],
    ['columns:', asAccepted('{ protocol: gelf, label: a, equals: b }'), 7, 'must be one of loki, elasticsea'],
    ['columns:', asAccepted('{ protocol: loki, label: a, equals: 7 }'), 7, '"equals" must be a text that is'],
  ])('with %j as %j is refused, at line %i', async (...fault) => {
    await expectFault(LOGS, fault);
  });

  test.each([
    ['request.path', 'http://127.0.0.1:3000/?q={value}'],
    ['"a b".c', 'https://[::1]/#{trace.id}'],
    ['x-request-id', 'https://a.example'],
  ])('may have links of a field, as a search names it, to an address: %s, %s', async (field, url) => {
    await write(LOGS, SOURCE.replace('columns:', linkTo(url, field)));
    const { definitions } = await readDefinitions(folders);
    expect(definitions.sources[0]?.links).toEqual([{ label: 'Trace', field, url }]);
  });

  test('names the places of an event that has no text and no id', async () => {
    const places = 'message: [metadata.msg, log]\nevent_id: [metadata.uid, uid]\ncolumns:';
    await write(LOGS, SOURCE.replace('columns:', places));
    const source = (await readDefinitions(folders)).definitions.sources[0] as Source; // there is one
    const rules = { now: Date.UTC(2026, 10, 20) * 1_000, eventBytesMax: 10_000, project: '' };
    const parse = (event: object) => parseEvent({ text: JSON.stringify(event) }, source, rules);
    const [first, second] = [{ msg: 'm', uid: 7 }, { msg: null }].map((metadata) =>
      parse({ metadata, log: { a: 1 }, uid: 'u' }),
    );
    expect([first?.id, first?.message, second?.id, second?.message]).toEqual(['7', 'm', 'u', '{"a":1}']);
    const own = parse({ id: 'i', message: 'own', metadata: { msg: 'm', uid: 7 } });
    expect([own.id, own.message]).toEqual(['i', 'own']);
  });

  test('accepts a label that is one of some texts, or begins with one', () => {
    const [rule] = createAccepts([{ protocol: 'loki', label: 'app', equals: ['shop', 'web-*'] }]);
    const fits = (labels: object) => rule !== undefined && accepts(rule, labels as Record<string, unknown>);
    expect([{ app: 'shop' }, { app: 'web-' }, { app: 'web-1' }].map(fits)).toEqual([true, true, true]);
    const others = [{}, { app: 'shops' }, { app: 'web' }, { app: 1 }, { other: 'shop' }, { APP: 'shop' }];
    expect(others.map(fits)).toEqual(others.map(() => false));
  });
});

describe('the whole set', () => {
  test('refuses what two definitions share, also in another letter case', async () => {
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

  test('refuses a name that is the id of another definition, not one that is its own', async () => {
    const other = '4dea32a0-fb99-4b83-9c42-c900fca9aeb6';
    const own = ENDPOINT.replace('3dea32a0-fb99-4b83-9c42-c900fca9aeb6', other);
    await write('endpoints/test.two/endpoint.yaml', own.replace('test.one', other));
    await write('endpoints/test.two/query.sql', SQL);
    expect(await faults()).toEqual([]);
    await write(YAML, ENDPOINT.replace('test.one', other));
    await write('endpoints/test.two/endpoint.yaml', own.replace('test.one', 'test.two'));
    const taken = `${YAML}:2: name "${other}" is already taken by endpoints/test.two/endpoint.yaml`;
    expect(await faults()).toEqual([taken]);
  });

  test('reports every fault of every file at once, in the order of files and lines', async () => {
    await write(YAML, ENDPOINT.replace('max_rows: 1000', 'max_rows: 0').replace('name: test.one', 'name: 1'));
    await write('endpoints/test.two/endpoint.yaml', 'a: [');
    await write('sources/test.logs.yaml', SOURCE.replace('90', '0'));
    const { faults: found } = await readDefinitions(folders);
    const places = [`${YAML}:2`, `${YAML}:4`, 'endpoints/test.two/endpoint.yaml:1'];
    const all = [...places, 'endpoints/test.two/query.sql:1', `${LOGS}:5`];
    expect(() => refuseFaults(found)).toThrow(
      expect.objectContaining({
        faults: all.map((place) => expect.stringContaining(`${folder.path}/${place}: `)),
      }),
    );
  });

  test('follows links, and reports those that lead nowhere', async () => {
    const [endpointsDir, sourcesDir] = [join(folder.path, 'links'), join(folder.path, 'source-links')];
    for (const dir of [endpointsDir, sourcesDir]) await mkdir(dir);
    await symlink(join(folder.path, 'endpoints/test.one'), join(endpointsDir, 'one'));
    await symlink(join(folder.path, LOGS), join(sourcesDir, 'test.logs.yaml'));
    await symlink('nowhere.yaml', join(sourcesDir, 'gone.yaml'));
    const { definitions, faults: found } = await readDefinitions({ endpointsDir, sourcesDir });
    expect(definitions).toMatchObject({
      endpoints: [{ name: 'test.one' }],
      sources: [{ name: 'test.logs' }],
    });
    expect(found).toEqual([{ file: join(sourcesDir, 'gone.yaml'), line: 1, message: 'is missing' }]);
  });

  test('refuses folders that are missing, and sources that are none', async () => {
    await rm(folder.path, { recursive: true });
    await mkdir(folder.path);
    const missing = (dir: string) => expect.stringContaining(`${dir}:1: cannot be read as a folder: ENOENT`);
    expect(await faults()).toEqual([missing('sources'), missing('endpoints')]);
    for (const dir of [folders.sourcesDir, folders.endpointsDir]) await mkdir(dir);
    expect(await faults()).toEqual([expect.stringContaining('sources:1: has no source: add a')]);
  });
});
