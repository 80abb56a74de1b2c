import { join } from 'node:path';
import { findFreePort } from '../../trial/free-port.ts';
import { withServer } from '../../trial/server.ts';
import { WIRES } from '../../trial/wire.ts';
import { runChild } from '../load.ts';
import { type Row, say } from '../report.ts';
import { watchRss } from '../rss.ts';
import type { BenchOptions } from '../section.ts';
import type { SendersJob, SendersResult } from '../senders-process.ts';
import { EVENTS_PER_BATCH } from './ingest-load.ts';

const SENDERS = 64;
const SECONDS_MAX = 20;
const POLL_MS = 250;
const GRACE_MS = 60_000;
const MB_MAX = 1_200;

/** Resident memory while many senders of one protocol send as fast as they can, each protocol on a new store. */
export async function measureSenders(dataDir: string, { seconds: given }: BenchOptions): Promise<Row[]> {
  const seconds = Math.min(given, SECONDS_MAX);
  const rows: Row[] = [];
  for (const name of ['ndjson', ...Object.keys(WIRES), 'otlp-grpc', 'syslog']) {
    const [grpcPort, tcpPort] = [await findFreePort(), await findFreePort()];
    const env = {
      TAILRACE_OTLP_GRPC_PORT: String(grpcPort),
      TAILRACE_SYSLOG: `tcp://127.0.0.1:${tcpPort}`,
    };
    await withServer({ dataDir: join(dataDir, name), env }, async ({ url, rssMb }) => {
      const job: SendersJob = {
        ...{ url, grpcPort, tcpPort, name, seconds },
        ...{ senders: SENDERS, eventsPerRequest: EVENTS_PER_BATCH },
      };
      const before = rssMb();
      const work = () =>
        runChild<SendersJob, SendersResult>('senders-process.ts', job, seconds * 1_000 + GRACE_MS);
      const { rss, result } = await watchRss(rssMb, work, POLL_MS);
      const most = Math.max(...rss);
      const { events, refused, bytesPerRequest } = result;
      say(
        `${SENDERS} senders of ${name}, ${seconds} s: ${Math.round(before)} MB before, ${Math.round(most)} at most; ` +
          `${events} events, ${refused} requests to repeat, of ${bytesPerRequest} bytes`,
      );
      const about = `${SENDERS} senders of ${name}`;
      rows.push(
        { name: `${about}: most memory`, unit: 'MB', values: [most], goal: { below: MB_MAX } },
        { name: `${about}: accepted`, unit: 'events/s', values: [events / seconds] },
      );
    });
  }
  return rows;
}
