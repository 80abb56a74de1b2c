import { parseConfig } from '../src/config/config.ts';
import { tableColumns } from '../src/engine/table.ts';
import { encodeRow, parseEvent } from '../src/ingest/event.ts';
import { MICROS_PER_MS } from '../src/lib/instant.ts';
import { openCore } from '../src/service/open-core.ts';
import { trusted } from '../src/sql/sql.ts';
import { makeLines, SOURCE_NAME } from './events.ts';
import { takeCores } from './machine/core-time.ts';

export interface WriteJob {
  readonly dataDir: string;
}

/** CPU time per event, µs, of all threads of the process. */
export interface WriteCost {
  /** From the text of an event to the engine's format. */
  readonly read: number;
  readonly insert: number;
  /** To merge it with the others of its day. */
  readonly merge: number;
}

const BATCHES = 20;
const EVENTS_PER_BATCH = 5_000;

process.once('message', async ({ dataDir }: WriteJob) => {
  process.send?.(await measure(dataDir), () => process.disconnect());
});

async function measure(dataDir: string): Promise<WriteCost> {
  const { engine, registry, close } = await openCore(
    parseConfig({ TAILRACE_DATA_DIR: dataDir }),
    'the benchmark',
  );
  const source = registry.getSource(SOURCE_NAME);
  const columns = tableColumns(source).map((column) => column.name);
  const rules = { now: Date.now() * MICROS_PER_MS, eventBytesMax: 1024 * 1024, project: '' };
  const encode = (lines: readonly string[]) =>
    Buffer.from(lines.map((text) => encodeRow(parseEvent({ text }, source, rules))).join(''));
  const insert = (bytes: Buffer) =>
    engine.insert({ table: source.table, columns, format: 'JSONCompactEachRow', bytes });
  await insert(encode(await makeLines(EVENTS_PER_BATCH, 0))); // loads and compiles code

  const spent = { read: 0, insert: 0 };
  for (let i = 1; i <= BATCHES; i++) {
    const lines = await makeLines(EVENTS_PER_BATCH, i);
    const made = await takeCores(async () => encode(lines));
    spent.read += made.coreMs;
    spent.insert += (await takeCores(() => insert(made.result))).coreMs;
  }
  const merge = await takeCores(() =>
    engine.inspect(
      trusted(`OPTIMIZE TABLE tailrace.${source.table} FINAL SETTINGS optimize_throw_if_noop = 0`),
    ),
  );
  await close();
  const perEvent = (coreMs: number) => (coreMs * MICROS_PER_MS) / (BATCHES * EVENTS_PER_BATCH);
  return { read: perEvent(spent.read), insert: perEvent(spent.insert), merge: perEvent(merge.coreMs) };
}
