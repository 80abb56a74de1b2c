import { describe, expect, test } from 'vitest';
import * as one from './one.ts';

const { YAML, QUERY } = one;
const { write, read: readAll } = await one.ownDefinitions();

const ENDPOINT = one.ENDPOINT.replace(/cache_warming.*\n/, '')
  .replace('parameters:', 'cursor: { by: [timestamp desc, id desc], size: 100 }\nparameters:')
  .replace(
    / {2}interval:[\s\S]*/,
    `columns:
  timestamp: { type: integer, description: Time. }
  id: { type: string, description: Id. }
  share: { type: number, description: Share. }
`,
  );
const SQL = `SELECT * FROM test_logs WHERE project = @project
AND (@cursor_timestamp IS NULL OR (timestamp, id) < (@cursor_timestamp, @cursor_id))
LIMIT 100`;

async function read(yaml: string, sql: string) {
  await write({ [YAML]: yaml, [QUERY]: sql, [one.LOGS]: one.SOURCE });
  const { faults, definitions } = await readAll();
  return { pages: definitions.endpoints[0]?.pages, faults };
}

describe('a cursor', () => {
  test('names the order of the rows, the size of a page and the sources that are read', async () => {
    const { pages, faults } = await read(ENDPOINT, SQL);
    expect(faults).toEqual([]);
    const column = (name: string, type: string) => ({ name, type, isDescending: true });
    const by = [column('timestamp', 'integer'), column('id', 'string')];
    expect(pages).toMatchObject({ by, size: 100, sources: [{ table: 'test_logs' }] });
  });

  test.each([
    ['id desc', 'id', 7, '"by" must name each column with its direction, asc or desc, such as timestamp des'],
    ['size: 100', 'size: 101', 7, '"size" must be at most the LIMIT of the query, which is 100'],
    [
      '  project:',
      '  cursor: { type: string, description: x }\n  project:',
      9,
      '"cursor" is a name of the service',
    ],
  ])('with %j as %j is rejected', async (from, to, line, message) => {
    expect(ENDPOINT).toContain(from);
    const { faults } = await read(ENDPOINT.replace(from, to), SQL);
    const found = faults.filter((fault) => fault.startsWith(`${YAML}:${line}: `));
    expect(found.join('\n')).toContain(message);
  });

  test('needs a query that continues after each of its columns, and no other', async () => {
    const { faults } = await read(ENDPOINT, 'SELECT @project,\n@cursor_id, @cursor_place');
    expect(faults).toEqual([
      expect.stringContaining(`${QUERY}:1: must use @cursor_timestamp: with "cursor", a query continues`),
      `${QUERY}:2: @cursor_place needs "place" in "by" of "cursor" in ${YAML}`,
    ]);
  });

  describe('with @page_from', () => {
    const RANGED = ENDPOINT.replace('size: 100', 'size: 100, after: start, until: end').replace(
      'columns:',
      '  start: { type: timestamp, description: x }\n  end: { type: timestamp, description: x }\ncolumns:',
    );
    const QUERIED = `SELECT * FROM test_logs WHERE project = @project AND t >= @page_from AND t <= @page_until
AND (@cursor_id IS NULL OR t < @page_until OR id < @cursor_id) LIMIT 100`;

    test.each([
      ['[timestamp desc, ', '[', 'yaml', '"by" must begin with timestamp desc'],
      ['after: start', 'after: project', 'yaml', '"after" must name a parameter of type timestamp'],
      [/@page_until/g, '@cursor_timestamp', 'sql', 'must use @page_until: a page has the rows with'],
      ['t >= @page_from AND', '', 'sql', 'must use @page_from: a page has the rows with'],
      [/start/g, 'page_from', 'yaml', '"page_from" is a name of the service if there is a "cursor"'],
    ])('%s as %j is rejected', async (from, to, file, message) => {
      const [yaml, sql] = [RANGED, QUERIED].map((text, i) =>
        file === ['yaml', 'sql'][i] ? text.replace(from, to) : text,
      );
      expect([yaml, sql]).not.toEqual([RANGED, QUERIED]);
      const { faults } = await read(yaml ?? '', sql ?? '');
      expect(faults).toContainEqual(expect.stringContaining(message));
    });
  });
});
