import { parseConfig } from '../src/config/config.ts';
import { tableColumns } from '../src/engine/table.ts';
import { encodeRow, parseEvent } from '../src/ingest/event.ts';
import { MICROS_PER_MS } from '../src/lib/instant.ts';
import { openCore } from '../src/service/open-core.ts';
import { makeLines, SOURCE_NAME } from './events.ts';

export interface EngineJob {
  readonly dataDir: string;
  readonly rows: number;
}

export interface EngineResult {
  readonly seconds: number;
  readonly bytes: number;
}

process.once('message', async (job: EngineJob) => {
  process.send?.(await run(job), () => process.disconnect());
});

/** The time of the engine alone for the same events, in its own format and in one INSERT. */
async function run({ dataDir, rows }: EngineJob): Promise<EngineResult> {
  const core = await openCore(parseConfig({ TAILRACE_DATA_DIR: dataDir }), 'the benchmark');
  const source = core.registry.getSource(SOURCE_NAME);
  const columns = tableColumns(source).map((column) => column.name);
  const rules = { now: Date.now() * MICROS_PER_MS, eventBytesMax: 1024 * 1024, project: '' };
  const encode = (lines: readonly string[]) =>
    Buffer.from(lines.map((text) => encodeRow(parseEvent({ text }, source, rules))).join(''));
  const insert = (bytes: Buffer) =>
    core.engine.insert({ table: source.table, columns, format: 'JSONCompactEachRow', bytes });
  await insert(encode(await makeLines(1000, 2))); // the first INSERT loads code
  const bytes = encode(await makeLines(rows, 1));
  const startMs = performance.now();
  await insert(bytes);
  const seconds = (performance.now() - startMs) / 1000;
  await core.close();
  return { seconds, bytes: bytes.length };
}
