import fc from 'fast-check';
import { afterAll, expect, test } from 'vitest';
import type { Source } from '../../src/definitions/source.ts';
import { columnNames, truncateTable } from '../../src/engine/table.ts';
import { type Event, parseEvent } from '../../src/ingest/event.ts';
import { blockColumns, createEncoder } from '../../src/ingest/rows.ts';
import { identifier, sql } from '../../src/sql/sql.ts';
import { runs } from '../support/property.ts';
import { openTestStore } from '../support/service.ts';

const { core, close } = await openTestStore();
afterAll(close);
const { engine, registry } = core;
const NOW = Date.now();

// Each source with other kinds of columns: computed, numbers, keywords.
const SOURCES = ['cloudflare.logs.prod', 'deno-relay-logs', 'postgres.logs'].map((name) =>
  registry.getSource(name),
);

const odd = ['', '\n\n', 'é', '😀', '\ud83d', '\ude00', '\0', '\\N', '\t', '"', 'NULL', 'x'.repeat(70_000)];
const text = fc.oneof(fc.string({ unit: 'binary' }), fc.string(), fc.constantFrom(...odd));
const numbers = [-0, 0.1, 1e300, 5e-324, 2 ** 53 - 1, -(2 ** 53) + 1, 2 ** 53, -1, 2 ** 31, -(2 ** 32)];
const value = fc.oneof(
  text,
  fc.double(),
  fc.integer(),
  fc.constantFrom(...numbers, true, false, null),
  fc.constant({ a: [] }),
);

/** An event with a random value, or none, at each path from which the source takes a column. */
function events(source: Source) {
  const paths = source.columns
    .flatMap(({ path, otherPaths }) => [path, ...otherPaths])
    .filter((path) => path.length > 0);
  const typed = fc.tuple(...paths.map((path) => fc.option(value).map((one) => ({ path, one }))));
  const event = fc.record({ id: text, project: text, event_message: value, extra: value, typed });
  return fc.array(event, { minLength: 1, maxLength: 20 }).map((all) =>
    all.map(({ typed: values, id, ...own }, i) => {
      const made: Record<string, unknown> = {
        ...own,
        id: `${i} ${id}`.slice(0, 200),
        timestamp: NOW - i * 1_000.5,
      };
      for (const { path, one } of values) if (one !== null) put(made, path, one);
      return made;
    }),
  );
}

function put(target: Record<string, unknown>, [name = '', ...rest]: readonly string[], one: unknown): void {
  if (rest.length === 0) {
    target[name] = one;
    return;
  }
  const inner = target[name];
  const next = typeof inner === 'object' && inner !== null ? (inner as Record<string, unknown>) : {};
  target[name] = next;
  put(next, rest, one);
}

function encode(parsed: readonly Event[], columns?: ReturnType<typeof blockColumns>): Buffer[] {
  const encoder = createEncoder(columns);
  for (const event of parsed) encoder.add(event);
  return encoder.finish().parts;
}

async function readAll({ table }: Source): Promise<string> {
  const rows = await engine.inspect(sql`SELECT * FROM ${identifier(table)} ORDER BY id, project`);
  return JSON.stringify(rows);
}

test.each(SOURCES)('rows of $name are stored as blocks exactly as they are as text', async (source) => {
  const rules = { now: NOW * 1_000, eventBytesMax: 1024 * 1024, project: '' };
  await fc.assert(
    fc.asyncProperty(events(source), async (made) => {
      const parsed = made.map((one) => parseEvent({ text: JSON.stringify(one) }, source, rules));
      const { table } = source;
      const bytes = Buffer.concat(encode(parsed));
      await engine.insert({ table, columns: columnNames(source), format: 'JSONCompactEachRow', bytes });
      const asText = await readAll(source);
      await engine.command(truncateTable(source, ''));
      const columns = blockColumns(source);
      // Several blocks, as of several requests.
      const blocks = [parsed.slice(0, 3), parsed.slice(3)].flatMap((some) => encode(some, columns));
      await engine.insert({ table, columns, format: 'blocks', blocks });
      const asBlocks = await readAll(source);
      await engine.command(truncateTable(source, ''));
      expect(JSON.parse(asText)).toHaveLength(parsed.length);
      expect(asBlocks).toBe(asText);
    }),
    runs(25),
  );
});

test('a repeat under a token is stored once, as text after blocks, too, as after midnight', async () => {
  const source = registry.getSource('cloudflare.logs.prod');
  const { table } = source;
  await engine.command(truncateTable(source, ''));
  const rules = { now: NOW * 1_000, eventBytesMax: 1024 * 1024, project: '' };
  const text = (id: number) => JSON.stringify({ id: `${id}`, timestamp: NOW, event_message: 'm' });
  const parsed = Array.from({ length: 700 }, (_, id) => parseEvent({ text: text(id) }, source, rules));
  const columns = blockColumns(source);
  const token = 'repeated on the next day';
  const blocks = encode(parsed, columns);
  await engine.insert({ table, format: 'blocks', columns, blocks, token });
  const bytes = Buffer.concat(encode(parsed));
  const asText = { table, format: 'JSONCompactEachRow', columns: columnNames(source), bytes } as const;
  await engine.insert({ ...asText, token });
  expect(JSON.parse(await readAll(source))).toHaveLength(700);
  await engine.insert({ ...asText, token: 'another' });
  expect(JSON.parse(await readAll(source))).toHaveLength(1_400);
});
