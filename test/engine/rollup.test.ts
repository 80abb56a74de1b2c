import fc from 'fast-check';
import { afterAll, beforeEach, expect, test } from 'vitest';
import { createRollupBuilder } from '../../src/engine/mutations.ts';
import { applySchema } from '../../src/engine/schema.ts';
import { dropDay, truncateTable } from '../../src/engine/table.ts';
import { formatInstant } from '../../src/lib/instant.ts';
import { JSON_FORMAT } from '../../src/query/format.ts';
import { createStatement } from '../../src/query/statement.ts';
import { createRewriter } from '../../src/sql/parse.ts';
import { trusted, type Values, writeValue } from '../../src/sql/sql.ts';
import { deleteRows } from '../support/delete-rows.ts';
import { runs, weighted } from '../support/property.ts';
import { openTestStore, storeEvents } from '../support/service.ts';

const { core, close } = await openTestStore();
afterAll(close);
const { engine, registry } = core;
const source = registry.getSource('deno-relay-logs');
const endpoint = registry.getEndpoint('functions.invocation-stats');
const withoutRollup = { ...source, rollup: undefined };
const DAY_MS = 86_400_000;
const DAYS = 5;
const TODAY_MS = Date.UTC(2026, 10, 20);
const dayMs = (day: number) => TODAY_MS - day * DAY_MS;

beforeEach(async () => {
  await engine.command(truncateTable(source, engine.cluster));
});

/** The stored events are without the rollup, as if it had been declared after them. */
async function forgetRollup(): Promise<void> {
  await build(withoutRollup);
  while ((await countRows()) > 0); // parts are rewritten in the background
  await applySchema(engine, [source]);
}

/** Ticks until nothing is left. */
async function build(of = source): Promise<void> {
  let last = '';
  const builder = createRollupBuilder({
    engine,
    sources: () => [of],
    onNotDropped(error) {
      throw error;
    },
    onProgress(_, state) {
      last = state;
    },
  });
  // All rows may have it before the engine says that the mutation is done.
  do await builder.tick();
  while (last === 'started');
}

/** Rows in parts that have the rollup. */
async function countRows(): Promise<number> {
  const [row] = await engine.inspect(
    trusted(`SELECT sumIf(rows, notEmpty(projections)) AS inside
     FROM system.parts WHERE database = currentDatabase() AND table = '${source.table}' AND active`),
  );
  return Number(row?.['inside']);
}

interface Invocation {
  readonly day: number;
  readonly second: number;
  readonly project: string;
  readonly functionId: string | null;
  readonly time: unknown;
  readonly status: number | null;
}

const EVENT: Invocation = { day: 0, second: 0, project: 'a', functionId: 'f1', time: 5, status: 200 };

const invocation: fc.Arbitrary<Invocation> = fc.record({
  day: fc.integer({ min: 0, max: DAYS - 1 }),
  second: fc.oneof(
    fc.integer({ min: 0, max: 86_399 }),
    fc.constantFrom(0, 3_599.999_999, 3_600, 86_399.999_999),
  ),
  project: fc.constantFrom('a', 'b'),
  functionId: fc.constantFrom('f1', 'f2', null),
  time: fc.oneof(
    fc.double({ min: -10, max: 400_000, noNaN: true }),
    fc.constantFrom<unknown[]>(null, 'x', 0, -1e300, 1.7e308, 5e-324, 1e38, 1e17),
  ),
  status: fc.constantFrom(null, -1, 200, 399, 400, 599),
});

async function insert(events: readonly Invocation[]): Promise<void> {
  const wire = events.map(({ day, second, project, functionId, time, status }) => ({
    timestamp: formatInstant(dayMs(day) * 1000 + Math.round(second * 1e6)),
    event_message: '',
    metadata: {
      ...{ project_ref: project, function_id: functionId, execution_time_ms: time },
      response: { status_code: status },
    },
  }));
  await storeEvents(core, source.name, wire, TODAY_MS + DAY_MS);
}

type Step =
  | { readonly kind: 'insert'; readonly events: readonly Invocation[] }
  | { readonly kind: 'forget' | 'build' | 'merge' | 'delete' | 'drop' };

const some = fc.array(invocation, { minLength: 1, maxLength: 60, size: 'max' });
const other = fc.constantFrom('forget', 'build', 'merge', 'delete', 'drop');
const step: fc.Arbitrary<Step> = weighted(
  [4, fc.record({ kind: fc.constant('insert' as const), events: some })],
  [3, fc.record({ kind: other })],
);

async function take(taken: Step): Promise<void> {
  if (taken.kind === 'insert') await insert(taken.events);
  if (taken.kind === 'forget') await forgetRollup();
  if (taken.kind === 'build') await build();
  if (taken.kind === 'merge') await engine.command(trusted(`OPTIMIZE TABLE ${source.table} FINAL`));
  if (taken.kind === 'delete') await deleteRows(engine, source, "function_id = 'f2'");
  if (taken.kind === 'drop')
    await engine.command(dropDay(source, new Date(dayMs(1)).toISOString().slice(0, 10), engine.cluster));
}

const question = fc.record({
  project: fc.constantFrom('a', 'b'),
  function_id: fc.constantFrom('', '', 'f1'),
  interval: fc.constantFrom('5min', '15min', '1hr', '1day', '7day'),
  hour: fc.integer({ min: 0, max: (DAYS + 7) * 24 }),
});

/** The shipped query over some buckets, with and without projections. */
async function askBoth({ hour, ...asked }: typeof question extends fc.Arbitrary<infer Q> ? Q : never) {
  const now = formatInstant((dayMs(DAYS - 1) + hour * 3_600_000) * 1000);
  const values: Values = { ...asked, now };
  const statement = createStatement(endpoint, JSON_FORMAT, values);
  const sql = createRewriter(statement.sql)((name) => writeValue(values[name] ?? ''));
  const inspect = async (text: string) => JSON.stringify(await engine.inspect(trusted(text)));
  const read = (projections: 0 | 1) => inspect(`${sql} SETTINGS optimize_use_projections = ${projections}`);
  const plan = await inspect(`EXPLAIN ${sql}`);
  return { with: await read(1), without: await read(0), readsRollup: plan.includes('(rollup_') };
}

test('answers from rollups are those from rows, byte for byte', async () => {
  const steps = fc.array(step, { minLength: 1, maxLength: 6, size: 'max' });
  const property = fc.asyncProperty(
    fc.array(invocation, { minLength: 20, maxLength: 60, size: 'max' }),
    steps,
    fc.array(question, { minLength: 12, maxLength: 12 }),
    async (first, others, questions) => {
      await engine.command(truncateTable(source, engine.cluster));
      await insert(first);
      for (const one of others) await take(one);
      for (const asked of questions) {
        const answers = await askBoth(asked);
        expect(answers.with).toBe(answers.without);
      }
      await insert([EVENT]);
      const days = { project: 'a', function_id: '', interval: '7day', hour: DAYS * 24 } as const;
      const { readsRollup, ...answers } = await askBoth(days);
      expect(readsRollup).toBe(true);
      expect(answers.with).toBe(answers.without);
    },
  );
  await fc.assert(property, runs(5));
});
