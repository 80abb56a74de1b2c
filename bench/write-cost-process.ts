import { parseConfig } from '../src/config/config.ts';
import { blockColumns } from '../src/engine/block-column.ts';
import { columnNames } from '../src/engine/table.ts';
import { type Event, encodeRow, parseEvent } from '../src/ingest/event.ts';
import { scanJson } from '../src/ingest/json/scan.ts';
import { encodeBlocks } from '../src/ingest/rows.ts';
import { MICROS_PER_MS } from '../src/lib/instant.ts';
import { openCore } from '../src/service/open-core.ts';
import { trusted } from '../src/sql/sql.ts';
import { makeLines, SOURCE_NAME } from './events.ts';
import { takeCores } from './machine/core-time.ts';

export interface WriteJob {
  readonly dataDir: string;
}

// The steps of an event, in order. The scan is a part of the reading; `JSON.parse`, which is not used, stands beside it.
const WRITE_STEPS = [
  'JSON.parse',
  'scan',
  'read: scanned, checked',
  'encoded as text',
  'encoded as a block',
  'inserted as text',
  'inserted as a block',
  'merged once',
] as const;

/** Core time per event of each step, µs, of all threads of the process and of the engine. */
export type WriteCost = Record<(typeof WRITE_STEPS)[number], number>;

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
  const { table } = source;
  const rules = { now: Date.now() * MICROS_PER_MS, eventBytesMax: 1024 * 1024, project: '' };
  const spent = Object.fromEntries(WRITE_STEPS.map((step) => [step, 0])) as WriteCost; // has every step
  const take = async <T>(step: keyof WriteCost, work: () => T | Promise<T>): Promise<T> => {
    const { result, coreMs } = await takeCores(async () => await work());
    spent[step] += coreMs;
    return result;
  };
  const insertText = (bytes: Buffer) =>
    engine.insert({ table, columns: columnNames(source), format: 'JSONCompactEachRow', bytes });
  const columns = blockColumns(source);
  const insertBlocks = (blocks: readonly Buffer[]) =>
    engine.insert({ table, columns, format: 'blocks', blocks });
  const toText = (events: readonly Event[]) => Buffer.from(events.map(encodeRow).join(''));

  for (let i = 0; i <= BATCHES; i++) {
    if (i === 1) for (const step of WRITE_STEPS) spent[step] = 0; // the first loads and compiles code
    const lines = await makeLines(EVENTS_PER_BATCH, i);
    const received = lines.map((text) => Buffer.from(text));
    await take('JSON.parse', () => lines.map((text) => typeof JSON.parse(text)));
    await take('scan', () => received.map((bytes) => scanJson(bytes).spans.length));
    const events = await take('read: scanned, checked', () =>
      received.map((line) => parseEvent({ line }, source, rules)),
    );
    const text = await take('encoded as text', () => toText(events));
    const blocks = await take('encoded as a block', () => encodeBlocks(events, columns));
    await take('inserted as text', () => insertText(text));
    await take('inserted as a block', () => insertBlocks(blocks));
  }
  const statement = `OPTIMIZE TABLE tailrace.${table} FINAL SETTINGS optimize_throw_if_noop = 0`;
  await take('merged once', () => engine.inspect(trusted(statement)));
  await close();
  spent['merged once'] /= 2; // each event was inserted twice
  for (const step of WRITE_STEPS) spent[step] *= MICROS_PER_MS / (BATCHES * EVENTS_PER_BATCH);
  return spent;
}
