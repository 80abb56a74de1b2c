import { inTemporaryFolder } from '../folder.ts';
import type { Row } from '../report.ts';
import type { BenchOptions } from '../section.ts';
import { measureBatches } from './ingest-batches.ts';
import { measureCore } from './ingest-core.ts';
import { measureLoad } from './ingest-half-load.ts';
import { measureMemory } from './ingest-memory.ts';
import { measureProtocols } from './ingest-protocols.ts';
import { measureReads } from './ingest-reads.ts';
import { measureSenders } from './ingest-senders.ts';
import { measureSingle } from './ingest-single.ts';

const MEASUREMENTS = {
  batches: measureBatches,
  single: measureSingle,
  core: measureCore,
  protocols: measureProtocols,
  reads: measureReads,
  load: measureLoad,
  memory: measureMemory,
  senders: measureSenders,
};

export const INGEST_MEASUREMENTS = Object.keys(MEASUREMENTS);

/** The cost of ingest over HTTP. */
export async function ingestSection(options: BenchOptions): Promise<Row[]> {
  const rows: Row[] = [];
  for (const [name, measure] of Object.entries(MEASUREMENTS)) {
    if (options.only.length > 0 && !options.only.includes(name)) continue;
    await inTemporaryFolder(async (dataDir) => {
      rows.push(...(await measure(dataDir, options)));
    });
  }
  return rows;
}
