import { cp, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { deleteRows } from '../support/delete-rows.ts';
import { EDGE, expectError, get, QUERY_PATH } from '../support/http.ts';
import { ownFolder, ownService, storeEvents, writeFiles } from '../support/service.ts';

const SHIPPED = 'logs.all';

const yamlOf = (name: string, id: string) => `
id: 11111111-1111-4111-8111-1111111111${id}
name: ${name}
description: Entries of a project.
max_rows: 100
caching: 60
cursor: { by: [timestamp asc, id asc], size: 7 }
parameters:
  project: { type: string, required: true, description: The project. }
columns:
  timestamp: { type: integer, description: Time. }
  id: { type: string, description: Identifier. }
`;

const SQL = `SELECT toUnixTimestamp64Micro(at) AS timestamp, id
FROM (SELECT timestamp AS at, id FROM edge_logs WHERE project = @project)
WHERE @cursor_timestamp IS NULL OR (toUnixTimestamp64Micro(at), id) > (@cursor_timestamp, @cursor_id)
ORDER BY timestamp, id
LIMIT 7`;

const { path: folder } = await ownFolder();
for (const [name, id] of [
  ['oldest', '01'],
  ['other', '02'],
] as const)
  await writeFiles(join(folder, name), { 'endpoint.yaml': yamlOf(`pages.${name}`, id), 'query.sql': SQL });
await cp('endpoints/logs.all', join(folder, SHIPPED), { recursive: true });
const own = await ownService({ env: { TAILRACE_ENDPOINTS_DIR: folder } });

/** Events of which many share one of three microseconds, with ids that differ in their last bytes. */
function events(project: string, from: number, count: number, nowMs: number): object[] {
  return Array.from({ length: count }, (_, i) => ({
    id: `${project}-${from + i}-${['é', '𝄞', '!', '~'][i % 4]}`,
    timestamp: new Date(nowMs - 60_000 + (i % 3)).toISOString(),
    project,
    event_message: `event ${i}`,
  }));
}

async function read(path: string) {
  const { status, text, headers, body } = await get(own.url, path);
  expect(status, text).toBe(200);
  const link = headers.get('link');
  const next = link === null ? undefined : /^<([^>]*)>; rel="next"$/.exec(link)?.[1];
  expect(next === undefined).toBe(link === null);
  return { rows: body.result, next };
}

/** Follows the links from a path on. @param between runs after each page */
async function readAll(path: string, between: () => Promise<void> = async () => {}) {
  const rows: Record<string, unknown>[] = [];
  for (let next: string | undefined = path; next !== undefined; ) {
    const page: Awaited<ReturnType<typeof read>> = await read(next);
    rows.push(...page.rows);
    next = page.next;
    await between();
  }
  return rows.map(({ id }) => String(id));
}

const pathOf = (endpoint: string, project: string) => `${QUERY_PATH}/${endpoint}?project=${project}`;

await storeEvents(own.core, EDGE, events('p', 0, 40, own.clock.now), own.clock.now);

describe('following the links', () => {
  test('a page of a URL that is too long for a link in headers is read without one', async () => {
    const path = `${pathOf('pages.oldest', 'p')}&unknown=${'%D1%89'.repeat(3_000)}`; // Node's own fetch reads 16 KiB of headers
    expect(await read(path)).toMatchObject({ rows: { length: 7 }, next: undefined });
  });

  test('reaches each of many rows that share id and microsecond, of an endpoint and of a search', async () => {
    const { core, clock } = own;
    const project = 'alike';
    const at = (ms: number) => new Date(clock.now - ms).toISOString();
    const same = { id: 'same', timestamp: at(5_000), project };
    const alike = Array.from({ length: 250 }, (_, i) => ({ ...same, n: i % 3 }));
    const others = [1_000, 9_000].map((ms) => ({ id: `at-${ms}`, timestamp: at(ms), project }));
    // Of several inserts, so that the engine has them in several parts.
    for (const events of [alike.slice(0, 90), alike.slice(90), others])
      await storeEvents(core, EDGE, events, clock.now);
    const wanted = ['at-1000', ...alike.map(({ id }) => id), 'at-9000'];
    expect(await readAll(pathOf(SHIPPED, project))).toEqual(wanted);
    for (const limit of [60, 100])
      expect(await readAll(`/api/search?project=${project}&limit=${limit}`)).toEqual(wanted);
  });

  test('reaches each row that was there once, newest first, while events come in at the same microseconds', async () => {
    const { core, clock } = own;
    const project = 'busy';
    const there = events(project, 0, 730, clock.now);
    await storeEvents(core, EDGE, there, clock.now);
    let from = 10_000;
    const ids = await readAll(pathOf(SHIPPED, project), async () => {
      const late = events(project, from, 20, clock.now); // among the rows of every page
      const fresh = { id: `new-${from}`, timestamp: new Date(clock.now).toISOString(), project };
      await storeEvents(core, EDGE, [...late, fresh], clock.now);
      from += 20;
    });
    expect(new Set(ids).size).toBe(ids.length);
    const wanted = there.map((event) => (event as { id: string }).id);
    expect(wanted.filter((id) => !ids.includes(id))).toEqual([]);
  });
});

describe('a cursor', () => {
  const cursorOf = async (path: string) =>
    new URL((await read(path)).next ?? '', own.url).searchParams.get('cursor') ?? '';

  async function expectRejected(path: string, cursor: string, message: RegExp) {
    const answer = await get(own.url, `${path}&cursor=${cursor}`);
    expectError(answer, 'invalid_parameter');
    expect(answer.body.error.errors).toMatchObject([{ parameter: 'cursor' }]);
    expect(answer.body.error.message).toMatch(message);
  }

  test('that was changed is rejected', async () => {
    const path = pathOf('pages.oldest', 'p');
    const cursor = await cursorOf(path);
    const changed = `${cursor.slice(0, 20)}${cursor[20] === 'A' ? 'B' : 'A'}${cursor.slice(21)}`;
    await expectRejected(path, changed, /cursor is cut or changed/);
  });

  test('of another endpoint, or of other parameters, is rejected', async () => {
    const cursor = await cursorOf(pathOf('pages.oldest', 'p'));
    await expectRejected(pathOf('pages.other', 'p'), cursor, /created for another endpoint/);
    await expectRejected(pathOf('pages.oldest', 'q'), cursor, /created for other parameters/);
  });

  test('of another key’s pin is rejected, and one of the same pin is taken', async () => {
    await storeEvents(own.core, EDGE, events('pinned', 0, 20, own.clock.now), own.clock.now);
    const headers = { 'x-api-key': await own.newKey({ pins: { project: 'p' } }) };
    const ask = async (project: string) => {
      const cursor = await cursorOf(pathOf('pages.oldest', project));
      return (await get(own.url, `${QUERY_PATH}/pages.oldest?cursor=${cursor}`, headers)).status;
    };
    expect([await ask('pinned'), await ask('p')]).toEqual([400, 200]);
  });

  test('of an earlier definition is rejected; a deletion of events changes none', async () => {
    const path = pathOf('pages.oldest', 'p');
    const cursor = await cursorOf(path);
    await deleteRows(own.core.engine, own.core.registry.getSource(EDGE), "project = 'nobody'");
    expect(await own.core.followDeletions()).toBe(true);
    expect((await read(`${path}&cursor=${cursor}`)).rows).toHaveLength(7);
    await writeFile(join(folder, 'oldest', 'query.sql'), `${SQL}\n-- changed\n`);
    await own.core.reload();
    await expectRejected(path, cursor, /created for an earlier definition/);
  });
});
