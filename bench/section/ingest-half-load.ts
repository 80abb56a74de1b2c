import { fillSample, type Server, withServer } from '../../trial/server.ts';
import type { LoadResult } from '../load.ts';
import { type Row, say, unmeasuredRow } from '../report.ts';
import type { BenchOptions } from '../section.ts';
import { EVENTS_PER_BATCH, LOGS_PATHS, load, tryLoad } from './ingest-load.ts';

const ROUNDS = 3;
const WARM_UP_SECONDS = 5;
const SECONDS = 10;
const CONNECTIONS = 8;
// Enough answers for a p99, and not a load by themselves.
const LOGS_PAUSE_MS = 30;

interface Round {
  /** Batches a second that the service stores if each sender waits for its response. */
  readonly fullRate: number;
  readonly half: LoadResult;
  readonly twice: LoadResult;
  readonly alone: LoadResult;
  readonly beside: LoadResult;
}

/** Batches that arrive at half of the rate that the service reached just before, and at twice that rate; new answers without and beside half. */
export async function measureLoad(dataDir: string, { rows }: BenchOptions): Promise<Row[]> {
  await fillSample(dataDir, rows);
  const rounds: Round[] = [];
  await withServer({ dataDir }, async (server) => {
    await sendBatches(server, { secondsMax: WARM_UP_SECONDS });
    for (let round = 0; round < ROUNDS; round++) {
      const one = await measureRound(server);
      rounds.push(one);
      say(`load ${round + 1}/${ROUNDS}: ${describe(one)}`);
    }
  });
  return toRows(rounds);
}

async function measureRound(server: Server): Promise<Round> {
  const full = await sendBatches(server, { secondsMax: SECONDS });
  const fullRate = full.accepted.requests / full.seconds;
  const half = await sendBatches(server, { secondsMax: SECONDS, perSecond: fullRate / 2 });
  const twice = await sendBatches(server, { secondsMax: SECONDS, perSecond: fullRate * 2 });
  const alone = await readLogs(server);
  const [beside] = await Promise.all([
    readLogs(server),
    sendBatches(server, { secondsMax: SECONDS + 1, perSecond: fullRate / 2 }),
  ]);
  return { fullRate, half, twice, alone, beside };
}

function sendBatches(
  server: Server,
  bounds: { secondsMax: number; perSecond?: number },
): Promise<LoadResult> {
  const send = { eventsPerRequest: EVENTS_PER_BATCH };
  return tryLoad(server, { connections: CONNECTIONS, send, ...bounds });
}

function readLogs(server: Server): Promise<LoadResult> {
  return load(server, { secondsMax: SECONDS, pauseMs: LOGS_PAUSE_MS, send: { paths: LOGS_PATHS } });
}

/** The longest time of a batch beyond that of most: what a merge, or anything else, may have held it. */
const heldMs = ({ half: { accepted } }: Round) => accepted.maxMs - accepted.p50Ms;
const refusedShare = ({ refused, requests }: LoadResult) => refused.requests / requests;
const goodput = ({ twice, fullRate }: Round) => twice.accepted.requests / twice.seconds / fullRate;

function describe(round: Round): string {
  const { fullRate, half, twice, alone, beside } = round;
  const ms = (value: number) => `${Math.round(value)} ms`;
  return [
    `full ${Math.round(fullRate * EVENTS_PER_BATCH)} events/s`,
    `half p50 ${ms(half.accepted.p50Ms)} p99 ${ms(half.accepted.p99Ms)} max ${ms(half.accepted.maxMs)}, ${half.refused.requests} refused`,
    `twice refused ${refusedShare(twice).toFixed(2)} within ${ms(twice.refused.p99Ms)}, accepted p99 ${ms(twice.accepted.p99Ms)}`,
    `stored ${goodput(round).toFixed(2)} of full`,
    `logs.all p99 ${ms(alone.p99Ms)}, beside half ${ms(beside.p99Ms)}`,
  ].join('; ');
}

function toRows(rounds: readonly Round[]): Row[] {
  const row = (name: string, unit: string, value: (round: Round) => number, goal?: Row['goal']): Row => ({
    ...{ name, unit, values: rounds.map(value) },
    ...(goal !== undefined && { goal }),
  });
  return [
    row('batches of 1,000 events, full load', 'events/s', ({ fullRate }) => fullRate * EVENTS_PER_BATCH),
    row('a batch at half the load: p50', 'ms', ({ half }) => half.accepted.p50Ms),
    row('a batch at half the load: p99', 'ms', ({ half }) => half.accepted.p99Ms, { below: 150 }),
    row('the longest batch at half the load beyond p50', 'ms', heldMs, { below: 500 }),
    row('twice the load: share refused', 'ratio', ({ twice }) => refusedShare(twice)),
    refusalRow(rounds),
    row('twice the load: an accepted batch, p99', 'ms', ({ twice }) => twice.accepted.p99Ms),
    row('twice the load: stored / full load', 'ratio', goodput, { atLeast: 0.9 }),
    row('logs.all alone: p50', 'ms', ({ alone }) => alone.p50Ms),
    row(
      'logs.all beside half the load: p50 / alone',
      'ratio',
      ({ alone, beside }) => beside.p50Ms / alone.p50Ms,
    ),
    row(
      'logs.all beside half the load: p99 / alone',
      'ratio',
      ({ alone, beside }) => beside.p99Ms / alone.p99Ms,
      {
        below: 1.5,
      },
    ),
  ];
}

/** A machine that became faster meanwhile refuses nothing. */
function refusalRow(rounds: readonly Round[]): Row {
  const name = 'twice the load: a refusal, p99';
  const values = rounds.flatMap(({ twice: { refused } }) => (refused.requests > 0 ? [refused.p99Ms] : []));
  if (values.length === 0) return unmeasuredRow(name, 'nothing was refused');
  return { name, unit: 'ms', values, goal: { below: 50 } };
}
