import { availableParallelism, cpus, totalmem } from 'node:os';
import { withServer } from '../../trial/server.ts';
import { readOwnCheckout } from '../checkout.ts';
import { inTemporaryFolder, openBenchData, readStoredBytes, withLinkedCopy } from '../data.ts';
import { type FactTable, formatFact, writeFacts } from '../facts.ts';
import { sendBatches } from '../load.ts';
import { type BenchOptions, median, quantile, type Row, say } from '../report.ts';
import { measureCached } from './cached.ts';
import { measurePaced, measureRate, RATES } from './ingest.ts';
import { type Asked, askAll } from './reads.ts';

const SIZES = [1_000_000, 10_000_000];

/** Measures what docs/performance.md shows, with stores of at most `rows` events, and writes bench/facts.json. */
export async function reportSection({ rows, only }: BenchOptions): Promise<Row[]> {
  const sizes = [...SIZES.filter((size) => size < rows), rows];
  const tables = [...(await ingestTables()), await cachedTable()];
  const askedOf: Asked[][] = [];
  for (const size of sizes) {
    const { asked } = await askAll(size, only);
    askedOf.push(asked);
    tables.push(await storeTable(size), questionTable(size, asked));
  }
  if (sizes.length > 1) tables.push(growthTable(sizes, askedOf));
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

async function ingestTables(): Promise<FactTable[]> {
  const batches = await inTemporaryFolder((dataDir) => measureRate(dataDir, RATES.batches));
  const single = await inTemporaryFolder((dataDir) => measureRate(dataDir, RATES.single));
  const rows = [
    { rate: RATES.batches, result: batches },
    { rate: RATES.single, result: single },
  ].map(({ rate, result: { eventsPerSecond, p99Ms, coreMicros, rssMb } }) => [
    rate.name,
    ...[median(eventsPerSecond), median(p99Ms), median(coreMicros), rssMb].map(formatFact),
  ]);
  const head = ['Ingest, durable', 'events/s', 'p99, ms', 'an event, core µs', 'memory, MB'];
  const steps = batches.threads.map(({ name, coreMicros }) => [name, formatFact(coreMicros)]);
  return [
    { title: 'Ingest', head, rows },
    { title: 'Ingest', head: ['Where the time of an event goes, in batches', 'core µs'], rows: steps },
    await pacedTable(median(batches.eventsPerSecond)),
  ];
}

const SHARES = { 'half of the events/s above': 0.5, 'twice the events/s above': 2 };

async function pacedTable(eventsPerSecond: number): Promise<FactTable> {
  const rows: string[][] = [];
  for (const [name, share] of Object.entries(SHARES)) {
    const { accepted, asked } = await inTemporaryFolder((dataDir) =>
      measurePaced(dataDir, eventsPerSecond * share),
    );
    const { requests, rejected, p98Ms, rejectedP98Ms } = accepted;
    const share503 = `${formatFact((100 * rejected) / (requests + rejected))} %`;
    const p98Of503 = rejected === 0 ? '' : formatFact(rejectedP98Ms);
    const times = [asked.besideMs, asked.aloneMs].map(formatFact).join(' / ');
    rows.push([name, formatFact(p98Ms), share503, p98Of503, times]);
  }
  const answers = 'new answers, p50, ms, beside it / without';
  return {
    title: 'Ingest',
    head: ['Batches are sent at', 'p98, ms', 'rejected by 503', 'p98 of a 503, ms', answers],
    rows,
  };
}

/** Of new answers by Tailrace: p50 at each size, and how many times longer the largest takes than the smallest. */
function growthTable(sizes: readonly number[], askedOf: readonly (readonly Asked[])[]): FactTable {
  const rows = (askedOf[0] ?? []).map(({ kind }) => {
    const times = askedOf.map((asked) => {
      const sides = asked.find((one) => one.kind === kind)?.sides ?? [];
      return median(sides[0]?.times ?? []);
    });
    return [
      kind,
      ...times.map(formatFact),
      formatFact((times.at(-1) ?? Number.NaN) / (times[0] ?? Number.NaN)),
    ];
  });
  const head = ['New answers, p50 in ms', ...sizes.map(titleOf), 'growth'];
  return { title: 'Growth', head, rows };
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
const INGEST_SECONDS = 10;

async function storeTable(size: number): Promise<FactTable> {
  return await withLinkedCopy(await openBenchData(size), async ({ dataDir }) => {
    const startsMs: number[] = [];
    let [bytes, rssMb, besideIngestMb] = [Number.NaN, Number.NaN, Number.NaN];
    for (let round = 0; round < STARTS; round++) {
      const beganMs = performance.now();
      await withServer({ dataDir }, async (server) => {
        startsMs.push(performance.now() - beganMs);
        bytes = await readStoredBytes(server.url);
        rssMb = server.rssMb();
      });
    }
    await withServer({ dataDir }, async (server) => {
      await sendBatches(server, { secondsMax: INGEST_SECONDS });
      besideIngestMb = server.rssMb();
    });
    const facts = [median(startsMs), bytes / size, rssMb, besideIngestMb].map(formatFact);
    const memory = ['memory after the start, MB', `after ${INGEST_SECONDS} s of batches, MB`];
    const head = ['Store', 'start until ready, ms', 'an event on disk, bytes', ...memory];
    return { title: titleOf(size), head, rows: [[`${size.toLocaleString('en')} events`, ...facts]] };
  });
}

/** `p50/p99` of ours, and of the others with how many times ours is faster. */
function questionTable(size: number, asked: readonly Asked[]): FactTable {
  const names = [...new Set(asked.flatMap(({ sides }) => sides.map(({ side }) => side)))];
  const rows = asked.map(({ kind, sides }) => {
    const timesOf = (name: string) => sides.find(({ side }) => side === name)?.times;
    const own = median(timesOf('Tailrace') ?? []);
    const cells = names.map((name) => {
      const times = timesOf(name);
      if (times === undefined) return '';
      const text = `${formatFact(median(times))}/${formatFact(quantile(times, 0.99))}`;
      return name.startsWith('Tailrace') ? text : `${text} (${formatFact(median(times) / own)}×)`;
    });
    return [kind, ...cells];
  });
  return { title: titleOf(size), head: ['New answers, p50/p99 in ms', ...names], rows };
}

function titleOf(size: number): string {
  return `${size.toLocaleString('en')} events`;
}
