import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { formatFault } from '../../src/definitions/fault.ts';
import { hasNewestFirst } from '../../src/definitions/pages.ts';
import { readDefinitions } from '../../src/definitions/read.ts';
import { temporaryFolder } from '../support/service.ts';

const folder = await temporaryFolder();
afterAll(folder.remove);
const folders = { endpointsDir: join(folder.path, 'endpoints'), sourcesDir: join(folder.path, 'sources') };

const YAML = 'endpoints/test.one/endpoint.yaml';
const QUERY = 'endpoints/test.one/query.sql';
const ENDPOINT = `id: 3dea32a0-fb99-4b83-9c42-c900fca9aeb6
name: test.one
description: A test.
max_rows: 1000
caching: 900
query_sandboxing: false
cursor: { by: [timestamp desc, id desc], size: 100 }
parameters:
  project: { type: string, required: true, description: A project. }
columns:
  timestamp: { type: integer, description: Time. }
  id: { type: string, description: Id. }
  share: { type: number, description: Share. }
`;
const SQL = `SELECT * FROM test_logs WHERE project = @project
AND (@cursor_timestamp IS NULL OR (timestamp, id) < (@cursor_timestamp, @cursor_id))
LIMIT 100`;
const SOURCE = `id: dca3fc05-a0a4-4270-92ac-ecfc72d28b68
name: test.logs
table: test_logs
description: A source.
retention_days: 90
project: project
columns: {}
`;

async function read(yaml: string, sql: string) {
  for (const [path, text] of [
    [YAML, yaml],
    [QUERY, sql],
    ['sources/test.logs.yaml', SOURCE],
  ] as const) {
    await mkdir(dirname(join(folder.path, path)), { recursive: true });
    await writeFile(join(folder.path, path), text);
  }
  const { faults, definitions } = await readDefinitions(folders);
  return {
    pages: definitions.endpoints[0]?.pages,
    faults: faults.map((fault) => formatFault(fault).replaceAll(`${folder.path}/`, '')),
  };
}

const CURSOR = 'cursor: { by: [timestamp desc, id desc], size: 100 }';

describe('a cursor', () => {
  test('names the order of the rows, the size of a page and the sources that are read', async () => {
    const { pages, faults } = await read(ENDPOINT, SQL);
    expect(faults).toEqual([]);
    expect(pages).toMatchObject({
      by: [
        { name: 'timestamp', type: 'integer', isDescending: true },
        { name: 'id', type: 'string', isDescending: true },
      ],
      size: 100,
      sources: [{ table: 'test_logs' }],
    });
  });

  test.each([
    ['timestamp desc, id desc', true],
    ['timestamp DESC, id asc', true],
    ['timestamp asc, id asc', false],
    ['id desc, timestamp desc', false],
  ])('by %s has the newest rows first: %s', async (by, expected) => {
    const { pages } = await read(ENDPOINT.replace('timestamp desc, id desc', by), SQL);
    expect(pages !== undefined && hasNewestFirst(pages)).toBe(expected);
  });

  const form = '"by" must name each column with its direction, asc or desc, such as timestamp desc, not';
  test.each([
    ['a column without a direction', CURSOR.replace('id desc', 'id'), [`${YAML}:7: ${form} "id"`]],
    ['a direction that is none', CURSOR.replace('id desc', 'id down'), [`${YAML}:7: ${form} "id down"`]],
    [
      'a column that is not in the answer',
      CURSOR.replace('id desc', 'id desc, place asc'),
      [
        `${YAML}:7: "place" must be one of "columns": timestamp, id, share`,
        expect.stringContaining(`${QUERY}:1: must use @cursor_place`),
      ],
    ],
    [
      'a column of another type',
      CURSOR.replace('id desc', 'id desc, share asc'),
      [
        `${YAML}:7: "share" must be an integer or a string, not a number: pages need exact values`,
        expect.stringContaining(`${QUERY}:1: must use @cursor_share`),
      ],
    ],
    [
      'a column twice',
      CURSOR.replace('id desc', 'id desc, id asc'),
      [`${YAML}:7: "by" has "id" twice; name each column once`],
    ],
    [
      'no columns',
      CURSOR.replace('timestamp desc, id desc', ''),
      expect.arrayContaining([
        expect.stringMatching(/:7: "by" must be a list of columns with their directions/),
      ]),
    ],
    [
      'pages larger than answers',
      CURSOR.replace('100', '1001'),
      [`${YAML}:7: "size" must be at most "max_rows", which is 1000`],
    ],
    [
      'pages larger than the LIMIT',
      CURSOR.replace('100', '101'),
      [`${YAML}:7: "size" must be at most the LIMIT of the query, which is 100: no page would ever be full`],
    ],
    [
      'pages that would hold up other requests',
      CURSOR.replace('100', '10001'),
      [`${YAML}:7: "size" must be a whole number of rows from 1 to 10000, not 10001`],
    ],
    ['no size', CURSOR.replace(', size: 100', ''), [`${YAML}:7: "size" is missing`]],
    [
      'an unknown field',
      CURSOR.replace('size', 'lines: 1, size'),
      [`${YAML}:7: unknown field "lines"; known here: by, size, after, until`],
    ],
    [
      'time buckets beside it',
      `${CURSOR}\nbucket: { column: timestamp, width: 60, range: 3600 }`,
      expect.arrayContaining([`${YAML}:7: "cursor" cannot be combined with "bucket"; remove one of the two`]),
    ],
    [
      'a parameter of its name',
      `${CURSOR}\nparameters:\n  cursor: { type: string, description: x }\n  cursor_x: { type: string, description: x }`,
      expect.arrayContaining([
        expect.stringContaining(`${YAML}:9: "cursor" is where callers send the cursor`),
        expect.stringContaining(`${YAML}:10: "cursor_x" must not begin with cursor_`),
      ]),
    ],
  ])('with %s is refused', async (_name, cursor, expected) => {
    const yaml = cursor.includes('parameters:')
      ? ENDPOINT.replace(CURSOR, cursor).replace('parameters:\n  project', '  project')
      : ENDPOINT.replace(CURSOR, cursor);
    expect((await read(yaml, SQL)).faults).toEqual(expected);
  });

  test('needs a query that continues after each of its columns, and no other', async () => {
    const { faults } = await read(ENDPOINT, 'SELECT @project,\n@cursor_id, @cursor_place');
    expect(faults).toEqual([
      expect.stringContaining(`${QUERY}:1: must use @cursor_timestamp: with "cursor", a query continues`),
      `${QUERY}:2: @cursor_place needs "place" in "by" of "cursor" in ${YAML}`,
    ]);
  });

  test('is not needed for parameters of such names', async () => {
    const own = `parameters:\n  cursor: { type: string, description: x }\n  cursor_id: { type: string, description: x }\n`;
    const yaml = ENDPOINT.replace(`${CURSOR}\n`, '').replace('parameters:\n', own);
    expect((await read(yaml, 'SELECT @project, @cursor, @cursor_id')).faults).toEqual([]);
  });

  describe('with @page_from', () => {
    const RANGED = ENDPOINT.replace('size: 100', 'size: 100, after: start, until: end').replace(
      'columns:',
      '  start: { type: timestamp, description: x }\n  end: { type: timestamp, description: x }\ncolumns:',
    );
    const QUERIED = `SELECT * FROM test_logs WHERE project = @project AND t >= @page_from AND t <= @page_until
AND (@cursor_id IS NULL OR t < @page_until OR id < @cursor_id) LIMIT 100`;

    test('names the bounds of a caller, and continues after @page_until', async () => {
      const { pages, faults } = await read(RANGED, QUERIED);
      expect(faults).toEqual([]);
      expect(pages?.range).toEqual({ after: 'start', until: 'end' });
      expect((await read(ENDPOINT, QUERIED)).pages?.range).toEqual({ after: undefined, until: undefined });
      expect((await read(ENDPOINT, SQL)).pages?.range).toBeUndefined();
    });

    const first = `${YAML}:7: "by" must begin with timestamp desc, an integer in microseconds since 1970: the query uses @page_from`;
    test.each([
      ['another order', RANGED.replace('[timestamp desc, ', '['), QUERIED, first],
      ['an ascending order', RANGED.replace('timestamp desc', 'timestamp asc'), QUERIED, first],
      ['a time that is a text', RANGED.replace('{ type: integer', '{ type: string'), QUERIED, first],
      [
        'a bound of another type',
        RANGED.replace('after: start', 'after: project'),
        QUERIED,
        '"after" must name a parameter of type timestamp, not "project"',
      ],
      [
        'a bound that is missing',
        RANGED.replace('until: end', 'until: never'),
        QUERIED,
        '"until" must name a parameter of type timestamp, not "never"',
      ],
      [
        'one end alone',
        RANGED,
        QUERIED.replaceAll('@page_until', '@cursor_timestamp'),
        `${QUERY}:1: must use @page_until: a page has the rows with`,
      ],
      [
        'the other end alone',
        RANGED,
        QUERIED.replace('t >= @page_from AND', ''),
        `${QUERY}:1: must use @page_from: a page has the rows with`,
      ],
      [
        'more rows than a page',
        RANGED,
        QUERIED.replace('100', '101'),
        `${QUERY}:1: must end with LIMIT 100, the "size" of a page`,
      ],
      [
        'time alone, of which rows may share an instant',
        RANGED.replace(', id desc', ''),
        QUERIED.replace('@cursor_id IS NULL OR', '').replace('OR id < @cursor_id', ''),
        `${QUERY}:1: must use @cursor_timestamp: with "cursor"`,
      ],
      [
        'no LIMIT',
        RANGED,
        QUERIED.replace('LIMIT 100', ''),
        `${QUERY}:1: must end with LIMIT 100, the "size" of a page`,
      ],
      [
        'a LIMIT in a comment',
        RANGED,
        QUERIED.replace('LIMIT 100', '-- LIMIT 100'),
        `${QUERY}:1: must end with LIMIT 100, the "size" of a page`,
      ],
      [
        'a parameter of its name',
        RANGED.replaceAll('start', 'page_from'),
        QUERIED,
        '"page_from" is bound by the service if there is a "cursor"; take another name',
      ],
      [
        'bounds without it',
        RANGED,
        `${SQL.replace('LIMIT', 'AND @start != @end LIMIT')}`,
        '"after" needs a query that uses @page_from and @page_until',
      ],
      [
        'no cursor',
        ENDPOINT.replace(`${CURSOR}\n`, ''),
        'SELECT @project, @page_from',
        `${QUERY}:1: @page_from needs "cursor" in ${YAML}`,
      ],
    ])('%s is refused', async (_name, yaml, sql, expected) => {
      expect((await read(yaml, sql)).faults).toContainEqual(expect.stringContaining(expected));
    });
  });
});
