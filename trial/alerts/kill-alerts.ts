import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout as wait } from 'node:timers/promises';
import type { HistoryEvent } from '../../src/alerts/history.ts';
import { createRandom, type Random } from '../../src/lib/random.ts';
import { REPLICAS, type Replicas, withReplicas } from '../replicas.ts';
import { type Server, startServer } from '../server.ts';
import { until } from '../until.ts';
import { type FlakyReceiver, startFlakyReceiver } from './flaky-receiver.ts';
import { EVERY_MS, TICKING_ALERTS, writeTickingAlerts } from './ticking-alerts.ts';

/** What has come of the messages of alerts during all strikes so far. */
export interface AlertKillCounts {
  readonly strikes: number;
  /** Different messages that were sent. */
  readonly messages: number;
  /** Changes of state in the history, each of which has to be sent. */
  readonly changes: number;
  /** Changes that no message told. Must be 0. */
  readonly lost: number;
  /** Changes that messages with different ids told. Must be 0. */
  readonly sentTwice: number;
  /** Changes that were sent, and are not in the history: of a process without the lease. Must be 0. */
  readonly unknown: number;
  /** Fired, and never resolved. Must be 0. */
  readonly unresolved: number;
  /** Messages that were sent again with the same id. */
  readonly repeated: number;
  /** From each strike to the next evaluation that was stored, ms. */
  readonly goneOnMs: readonly number[];
}

export interface AlertKillOptions {
  readonly folder: string;
  readonly times: number;
  readonly seed: number;
  readonly onRound?: (counts: AlertKillCounts) => void;
}

/** An entry of the history: `id` has the time at which it was written. */
interface Change {
  readonly id: string;
  readonly alert: string;
  readonly event: HistoryEvent;
}

/** Services under trial. */
interface Trial {
  readonly receiver: FlakyReceiver;
  readonly random: Random;
  readonly readHistory: () => Promise<readonly Change[]>;
  /** Strikes the service that evaluates. */
  readonly strike: () => Promise<void>;
  /** Starts what the strike has ended, once the others have gone on. */
  readonly mend: () => Promise<void>;
}

const BETWEEN_MS_MAX = 1_500;
const GONE_ON_MS_MAX = 30_000;
const DELIVERED_MS_MAX = 60_000;
const HISTORY_SQL = 'SELECT id, alert, entry FROM tailrace_alert_history ORDER BY id';

/**
 * Kills the evaluating one of two replicas with SIGKILL, so that the other one takes over; then ends the database sessions of the evaluating
 * one. The second counts include the first.
 */
export async function strikeReplicas(
  options: AlertKillOptions & { readonly sessionTimes: number },
): Promise<{ readonly killed: AlertKillCounts; readonly disconnected: AlertKillCounts }> {
  return await withAlertReplicas(options, async ({ servers, restart, control }, trial, findSender) => {
    let ended: 0 | 1 = 0;
    const killed = await run(options, {
      ...trial,
      async strike() {
        ended = findSender() === REPLICAS[0] ? 0 : 1;
        await servers[ended].end('SIGKILL');
      },
      mend: () => restart(ended),
    });
    const disconnected = await run(
      { ...options, times: options.sessionTimes },
      {
        ...trial,
        async strike() {
          await control(
            `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = '${findSender()}'`,
          );
        },
        mend: async () => {},
      },
    );
    return { killed, disconnected };
  });
}

/** Kills a service with its own store with SIGKILL, and starts it again. */
export async function killSingleService(options: AlertKillOptions): Promise<AlertKillCounts> {
  const { folder, seed } = options;
  return await withReceiver(seed, async (receiver, random) => {
    const env = writeTickingAlerts(folder, receiver.url)('only');
    let server: Server = await startServer({ dataDir: folder, env });
    try {
      const counts = await run(options, {
        ...{ receiver, random, readHistory: async () => readSqliteHistory(folder) },
        async strike() {
          await server.end('SIGKILL');
          server = await startServer({ dataDir: folder, env });
        },
        mend: async () => {},
      });
      return counts;
    } finally {
      await server.end('SIGTERM');
    }
  });
}

async function withAlertReplicas<T>(
  { folder, seed }: AlertKillOptions,
  work: (
    replicas: Replicas,
    trial: Pick<Trial, 'receiver' | 'random' | 'readHistory'>,
    findSender: () => string,
  ) => Promise<T>,
): Promise<T> {
  return await withReceiver(seed, async (receiver, random) => {
    const findSender = () => receiver.received.at(-1)?.sender ?? '';
    return await withReplicas(
      folder,
      async (replicas) => {
        const readHistory = async () => (await replicas.control(HISTORY_SQL)).map(toChange);
        return await work(replicas, { receiver, random, readHistory }, findSender);
      },
      { env: writeTickingAlerts(folder, receiver.url) },
    );
  });
}

async function withReceiver<T>(
  seed: number,
  work: (receiver: FlakyReceiver, random: Random) => Promise<T>,
): Promise<T> {
  const random = createRandom(String(seed));
  const receiver = await startFlakyReceiver(random);
  try {
    return await work(receiver, random);
  } finally {
    receiver.close();
  }
}

async function run({ times, onRound }: AlertKillOptions, trial: Trial): Promise<AlertKillCounts> {
  const { receiver, random, readHistory, strike, mend } = trial;
  const goneOnMs: number[] = [];
  const isSince = (sinceMs: number) => receiver.received.some(({ atMs }) => atMs > sinceMs);
  await until(async () => assert(isSince(0), 'no message was sent'), GONE_ON_MS_MAX);
  for (let round = 0; round < times; round++) {
    await wait(random.whole(0, BETWEEN_MS_MAX));
    const startMs = Date.now();
    await strike();
    const struckMs = Date.now();
    const next = await until(async () => {
      const found = (await readHistory()).find(({ id }) => timeOf(id) > struckMs);
      assert(found !== undefined, 'nothing was evaluated after the strike');
      return found;
    }, GONE_ON_MS_MAX);
    goneOnMs.push(timeOf(next.id) - startMs);
    await until(async () => assert(isSince(timeOf(next.id)), 'nothing was sent'), GONE_ON_MS_MAX);
    await mend();
    onRound?.({ strikes: round + 1, goneOnMs, ...compare(await readHistory(), receiver) });
  }
  // What was written last may still wait for a receiver that has just failed.
  const last = (await readHistory()).filter(({ id }) => timeOf(id) < Date.now());
  await until(async () => {
    const { lost } = compare(last, receiver);
    assert(lost === 0, `${lost} changes were not sent`);
  }, DELIVERED_MS_MAX).catch(() => {}); // they are counted
  // What is received while the history is read may not be in it yet.
  const received = [...receiver.received];
  const { unknown } = compare(await readHistory(), { received });
  return { strikes: times, goneOnMs, ...compare(last, receiver), unknown };
}

function assert(isMet: boolean, message: string): asserts isMet {
  if (!isMet) throw new Error(message);
}

function readSqliteHistory(dataDir: string): Change[] {
  const database = new DatabaseSync(join(dataDir, 'control.sqlite'), { readOnly: true });
  try {
    return database.prepare(HISTORY_SQL.replace('tailrace_', '')).all().map(toChange);
  } finally {
    database.close();
  }
}

function toChange({ id, alert, entry }: Readonly<Record<string, unknown>>): Change {
  const { name = '' } = TICKING_ALERTS.find((one) => one.id === alert) ?? {};
  return { id: String(id), alert: name, event: JSON.parse(String(entry)) as HistoryEvent };
}

/** Reads the time of a UUID of version 7, ms since the epoch. */
function timeOf(id: string): number {
  return Number.parseInt(id.replace('-', '').slice(0, 12), 16);
}

function compare(history: readonly Change[], { received }: Pick<FlakyReceiver, 'received'>) {
  const changes = history.flatMap(({ alert, event }) =>
    event.change === 'firing' || event.change === 'resolved'
      ? [[alert, event.change, event.labels['interval']].join(' ')]
      : [],
  );
  const sent = new Map<string, Set<string>>();
  const accepted = new Set<string>();
  const messages = new Set<string>();
  for (const { id, message, isAccepted } of received) {
    messages.add(id);
    for (const { labels } of message.instances) {
      const change = [message.alert, message.status, labels['interval']].join(' ');
      sent.set(change, (sent.get(change) ?? new Set()).add(id));
      if (isAccepted) accepted.add(change);
    }
  }
  const known = new Set(changes);
  const storedTwice = changes.length - known.size;
  return {
    ...{ messages: messages.size, changes: changes.length, repeated: received.length - messages.size },
    lost: changes.filter((change) => !accepted.has(change)).length,
    sentTwice: [...sent.values()].filter((ids) => ids.size > 1).length + storedTwice,
    unknown: [...sent.keys()].filter((change) => !known.has(change)).length,
    unresolved: countUnresolved(changes),
  };
}

/** The last interval of each alert may still fire. */
function countUnresolved(changes: readonly string[]): number {
  const known = new Set(changes);
  return TICKING_ALERTS.flatMap(({ name }) =>
    changes.filter((change) => change.startsWith(`${name} firing `)).slice(0, -1),
  ).filter((change) => !known.has(change.replace(' firing ', ' resolved '))).length;
}

/** Two intervals: by then another process has to evaluate. */
export const GONE_ON_MS_GOAL = 2 * EVERY_MS;
