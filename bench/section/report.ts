import { availableParallelism, cpus, totalmem } from 'node:os';
import { withServer } from '../../trial/server.ts';
import { readOwnCheckout } from '../checkout.ts';
import { inTemporaryFolder, openBenchData, readStoredBytes, withLinkedCopy } from '../data.ts';
import { type FactTable, formatFact, writeFacts } from '../facts.ts';
import { type BenchOptions, median, quantile, type Row, say } from '../report.ts';
import { measureCached } from './cached.ts';
import { measureRate, RATES } from './ingest.ts';
import { type Asked, askAll } from './reads.ts';

const SIZES = [1_000_000, 10_000_000];

/** Measures what docs/performance.md shows, with stores of at most `rows` events, and writes bench/facts.json. */
export async function reportSection({ rows, only }: BenchOptions): Promise<Row[]> {
  const sizes = [...SIZES.filter((size) => size < rows), rows];
  const tables = [await ingestTable(), await cachedTable()];
  for (const size of sizes)
    tables.push(await storeTable(size), ...questionTables(size, (await askAll(size, only)).asked));
  writeFacts({
    commit: readOwnCheckout().commit,
    date: new Date().toISOString().slice(0, 10),
    processor: cpus()[0]?.model ?? 'unknown',
    cores: availableParallelism(),
    memoryGb: Math.round(totalmem() / 1e9),
    tables,
  });
  say('npm run docs writes the page');
  return [];
}

async function ingestTable(): Promise<FactTable> {
  const rows: string[][] = [];
  for (const rate of Object.values(RATES)) {
    const { eventsPerSecond, p99Ms, coreMicros, rssMb } = await inTemporaryFolder((dataDir) =>
      measureRate(dataDir, rate),
    );
    const values = [median(eventsPerSecond), median(p99Ms), median(coreMicros), rssMb].map(formatFact);
    rows.push([rate.name, ...values]);
  }
  const head = ['Ingest, durable', 'events/s', 'p99, ms', 'an event, core µs', 'memory, MB'];
  return { title: 'Ingest', head, rows };
}

async function cachedTable(): Promise<FactTable> {
  const measured = await measureCached();
  const rows = measured.map(({ connections, ours, theirs }) => {
    const rates = [ours, theirs].map((all) => median(all.map(({ requestsPerSecond }) => requestsPerSecond)));
    const p99 = median(ours.map(({ p99Ms }) => p99Ms));
    const [own = Number.NaN, bare = Number.NaN] = rates;
    return [`${connections} connections`, ...[own, p99, bare, own / bare].map(formatFact)];
  });
  const head = ['Cached GET', 'requests/s', 'p99, ms', 'bare Fastify, requests/s', 'ratio'];
  return { title: 'Cached answers', head, rows };
}

const STARTS = 5;

async function storeTable(size: number): Promise<FactTable> {
  return await withLinkedCopy(await openBenchData(size), async ({ dataDir }) => {
    const startsMs: number[] = [];
    let [bytes, rssMb] = [Number.NaN, Number.NaN];
    for (let round = 0; round < STARTS; round++) {
      const beganMs = performance.now();
      await withServer({ dataDir }, async (server) => {
        startsMs.push(performance.now() - beganMs);
        bytes = await readStoredBytes(server.url);
        rssMb = server.rssMb();
      });
    }
    const facts = [median(startsMs), bytes / size, rssMb].map(formatFact);
    const head = ['Store', 'start until ready, ms', 'an event on disk, bytes', 'memory after the start, MB'];
    return { title: titleOf(size), head, rows: [[`${size.toLocaleString('en')} events`, ...facts]] };
  });
}

/** `p50 / p99` of ours, and of the others with how many times ours is faster. */
function questionTables(size: number, asked: readonly Asked[]): FactTable[] {
  const names = [...new Set(asked.flatMap(({ sides }) => sides.map(({ side }) => side)))];
  const rows = asked.map(({ kind, sides }) => {
    const timesOf = (name: string) => sides.find(({ side }) => side === name)?.times;
    const own = median(timesOf('Tailrace') ?? []);
    const cells = names.map((name) => {
      const times = timesOf(name);
      if (times === undefined) return '';
      const text = `${formatFact(median(times))} / ${formatFact(quantile(times, 0.99))}`;
      return name.startsWith('Tailrace') ? text : `${text} (${formatFact(median(times) / own)} ×)`;
    });
    return [kind, ...cells];
  });
  return [{ title: titleOf(size), head: ['New answers, p50 / p99 in ms', ...names], rows }];
}

function titleOf(size: number): string {
  return `${size.toLocaleString('en')} events`;
}
