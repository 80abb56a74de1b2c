import { fillSample, withServer } from '../../trial/server.ts';
import type { Row } from '../report.ts';
import { rssRows, watchRss } from '../rss.ts';
import type { BenchOptions } from '../section.ts';
import { eventRate, LOGS_PATHS, load, sendBatches } from './ingest-load.ts';

const LOGS_PAUSE_MS = 50;

/** Resident memory during maximum ingest with reads of logs. */
export async function measureMemory(dataDir: string, { rows, minutes }: BenchOptions): Promise<Row[]> {
  await fillSample(dataDir, rows);
  return await withServer({ dataDir }, async (server) => {
    const secondsMax = minutes * 60;
    const { rss, result: batches } = await watchRss(server.rssMb, async () => {
      const reads = load(server, { secondsMax, pauseMs: LOGS_PAUSE_MS, send: { paths: LOGS_PATHS } });
      const [sent] = await Promise.all([sendBatches(server, { secondsMax }), reads]);
      return sent;
    });
    return [
      ...rssRows(`memory under batches and logs.all, ${minutes} min`, rss, 900),
      { name: 'batches meanwhile', unit: 'events/s', values: [eventRate(batches)] },
    ];
  });
}
