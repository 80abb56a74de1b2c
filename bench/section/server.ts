import { Agent, type IncomingMessage, request } from 'node:http';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { zstdDecompressSync } from 'node:zlib';
import { formatInstant, MICROS_PER_MS } from '../../src/lib/instant.ts';
import {
  type ClickHouseFront,
  type FrontRequest,
  startClickHouseFront,
} from '../../trial/clickhouse-front.ts';
import { fillSample, type Server, withServer } from '../../trial/server.ts';
import { inTemporaryFolder } from '../folder.ts';
import { askCold } from '../http.ts';
import { median } from '../measure.ts';
import { QUESTION_KINDS, type QuestionKind } from '../questions.ts';
import { type Row, say, timesRow } from '../report.ts';
import type { BenchOptions } from '../section.ts';

const ASKED = 60;
const WARM_UP = 10;
const PROJECT = 'aurora';

/**
 * The overhead of Tailrace on a ClickHouse server: its request to the server, repeated without Tailrace, against the whole
 * request through Tailrace. The server is ClickHouse's protocol in front of the embedded engine, in this process.
 */
export async function serverSection({ rows }: BenchOptions): Promise<Row[]> {
  return await inTemporaryFolder(async (folder) => {
    const front = await startClickHouseFront(join(folder, 'clickhouse'));
    const env = { CLICKHOUSE_URL: front.url };
    const dataDir = join(folder, 'data');
    try {
      say(`server: storing ${rows.toLocaleString('en')} rows`);
      await fillSample(dataDir, rows, [], env);
      return await withServer({ dataDir, env }, async (server) => {
        const measured: Row[] = [];
        for (const kind of QUESTION_KINDS) measured.push(...(await measure({ server, front }, kind)));
        return measured;
      });
    } finally {
      await front.close();
    }
  });
}

async function measure(
  { server, front }: { server: Server; front: ClickHouseFront },
  kind: QuestionKind,
): Promise<Row[]> {
  const agent = new Agent({ keepAlive: true });
  const question = kind.question(PROJECT);
  await askCold(server.url, agent, question);
  const template = front.requests.findLast(({ settings }) => settings.has('log_comment'));
  if (template === undefined) throw new Error('Tailrace sent no query');
  const through: number[] = [];
  const direct: number[] = [];
  for (let i = 0; i < ASKED + WARM_UP; i++) {
    const both = [
      async () => through.push(await askCold(server.url, agent, question)),
      async () => direct.push(await repeat(front.url, agent, template)),
    ];
    for (const ask of i % 2 === 0 ? both : both.reverse()) await ask();
  }
  agent.destroy();
  const [tailrace, alone] = [through.slice(WARM_UP), direct.slice(WARM_UP)];
  say(
    `server: ${kind.name}: ${median(tailrace).toFixed(1)} ms, without Tailrace ${median(alone).toFixed(1)} ms`,
  );
  return [
    timesRow(`${kind.name}, through Tailrace`, tailrace),
    timesRow(`${kind.name}, sent to the server itself`, alone),
    {
      name: `${kind.name}, through Tailrace / itself`,
      unit: 'ratio',
      values: [median(tailrace) / median(alone)],
      goal: { below: 1.15 },
    },
  ];
}

/** The same query at the present instant; the time until its answer is decompressed, ms. */
async function repeat(url: string, agent: Agent, { address, raw, headers }: FrontRequest): Promise<number> {
  const to = new URL(address, url);
  to.searchParams.set('param_now', formatInstant(Date.now() * MICROS_PER_MS));
  to.searchParams.set('query_id', crypto.randomUUID());
  const { authorization = '' } = headers;
  const startedMs = performance.now();
  const response = await new Promise<IncomingMessage>((resolve, reject) => {
    const options = { agent, method: 'POST', headers: { 'accept-encoding': 'zstd', authorization } };
    request(to, options, resolve).once('error', reject).end(raw);
  });
  const bytes = zstdDecompressSync(await buffer(response));
  if (response.statusCode !== 200) throw new Error(bytes.toString());
  return performance.now() - startedMs;
}
