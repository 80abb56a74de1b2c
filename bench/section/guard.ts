import { existsSync } from 'node:fs';
import { Agent } from 'node:http';
import { basename, join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { readDefinitions } from '../../src/definitions/read.ts';
import { MICROS_PER_MS } from '../../src/lib/instant.ts';
import { planSample, type SamplePart, sampleEvents } from '../../src/sample/fill.ts';
import { send } from '../../trial/http.ts';
import { withServer } from '../../trial/server.ts';
import { type Checkout, findRelease, readOwnCheckout, withCheckout } from '../checkout.ts';
import { settle, takeService, treeMs } from '../core-time.ts';
import { type BenchData, inTemporaryFolder, readStoredBytes, withLinkedCopy } from '../data.ts';
import { CACHED_PATH, EVENTS_PER_BATCH, sendBatches } from '../load.ts';
import { withPastServer } from '../past-server.ts';
import { askNew, pathOf, QUESTION_KINDS, WEEK_SEARCH } from '../questions.ts';
import { type BenchOptions, median, type Row, say } from '../report.ts';
import { fire } from './cached.ts';

/** What a figure may be of the other version's; its noise is less. */
const RATIO_MAX = 1.1;
const ROUNDS = 5;
/** Whatever `--rows` says, so that two runs compare. */
const ROWS = 200_000;
const DAYS = 7;
const DAY_MS = 86_400_000;

/** A version and its store. */
type Side = BenchData & { readonly root: string };

/** What one round took, by the name of the figure, with its unit. Less is better. */
type Round = Readonly<Record<string, number>>;

/** Prepares a side, lets `use` measure rounds, and cleans up. */
type Part = (side: Side, use: (round: () => Promise<Round>) => Promise<void>) => Promise<void>;

/**
 * Does the same work with this version and with another one, by turns, and compares medians. Core time leaves out most of what other work on
 * the machine adds. The exit code is 1 if a figure is above `RATIO_MAX` of the other's.
 */
export async function guardSection({ against }: BenchOptions): Promise<Row[]> {
  return await withCheckout(against ?? findRelease(), async (other) => {
    const own = readOwnCheckout();
    say(`guard: ${own.commit} beside ${other.commit}`);
    return await inTemporaryFolder(async (folder) => {
      const parts = (await planParts()).filter(({ source }) =>
        existsSync(join(other.root, 'sources', basename(source.file))),
      );
      const sides = [await fill(own, parts, folder), await fill(other, parts, folder)] as const;
      const rows: Row[] = [];
      for (const part of [takeDisk, takeStarts, takeIngest, takeQuestions, takeCached])
        rows.push(...compare(await takeTurns(sides, part), other));
      return rows;
    });
  });
}

interface Turns {
  readonly ours: readonly Round[];
  readonly theirs: readonly Round[];
}

function compare({ ours, theirs }: Turns, { commit }: Checkout): Row[] {
  return Object.keys(ours[0] ?? {}).flatMap((figure) => {
    const [own, other] = [ours, theirs].map((rounds) => rounds.map((round) => round[figure] ?? Number.NaN));
    if (own === undefined || other === undefined) return [];
    const ratio = median(own) / median(other);
    say(
      `guard: ${figure}: ${median(own).toFixed(1)}, ${commit} ${median(other).toFixed(1)}, ratio ${ratio.toFixed(2)}`,
    );
    if (!(ratio <= RATIO_MAX)) process.exitCode = 1;
    const [, name = '', unit = ''] = /^(.*), (.*?)$/.exec(figure) ?? [];
    return [
      { name, unit, values: own },
      { name: `${name}, ${commit}`, unit, values: other },
      { name: `${name} / ${commit}`, unit: 'ratio', values: [ratio], goal: { below: RATIO_MAX } },
    ];
  });
}

/** A round of one side, then one of the other; the first one alternates. */
async function takeTurns([own, other]: readonly [Side, Side], part: Part): Promise<Turns> {
  const ours: Round[] = [];
  const theirs: Round[] = [];
  await part(own, (takeOurs) =>
    part(other, async (takeTheirs) => {
      for (let round = 0; round < ROUNDS; round++) {
        if (round % 2 === 1) theirs.push(await takeTheirs());
        ours.push(await takeOurs());
        if (round % 2 === 0) theirs.push(await takeTheirs());
      }
    }),
  );
  return { ours, theirs };
}

async function planParts(): Promise<readonly SamplePart[]> {
  const { definitions } = await readDefinitions({ endpointsDir: 'endpoints', sourcesDir: 'sources' });
  return planSample(definitions.sources, ROWS);
}

/** Fills a store over HTTP, with the same events for every version: their tables and their samples may differ. */
async function fill({ root, commit }: Checkout, parts: readonly SamplePart[], folder: string): Promise<Side> {
  const side = { root, endMs: START_MS, dataDir: join(folder, commit) };
  say(`guard: fills a store of ${commit}`);
  await withServer(side, async ({ url, pid }) => {
    const agent = new Agent({ keepAlive: true });
    for (const part of parts)
      for (const body of writeDays(part)) {
        const path = `/api/logs?source_name=${part.source.name}`;
        const { status, text } = await send(url, agent, { path, body });
        if (status !== 200) throw new Error(`${path} was answered ${status}: ${text.slice(0, 500)}`);
      }
    agent.destroy();
    await settle(pid);
  });
  return side;
}

const START_MS = Date.now();
const BODY_CHARS_MAX = 4_000_000;

/** The events of a source as NDJSON, one day after another: a body becomes few parts. */
function* writeDays(part: SamplePart): Generator<Buffer> {
  const isTop = part.source.projectPaths[0]?.join('.') === 'project';
  const options = { seed: 1, days: DAYS, projects: 50, end: START_MS * MICROS_PER_MS };
  let [lines, chars, day] = [[] as string[], 0, 0];
  for (const { id, timestamp, project, message, metadata } of sampleEvents(part, options)) {
    const ms = Math.floor(timestamp / MICROS_PER_MS);
    if (lines.length > 0 && (Math.floor(ms / DAY_MS) !== day || chars > BODY_CHARS_MAX)) {
      yield Buffer.from(lines.join('\n'));
      [lines, chars] = [[], 0];
    }
    day = Math.floor(ms / DAY_MS);
    const event = { id, timestamp: new Date(ms).toISOString(), event_message: message };
    const line = JSON.stringify({ ...event, ...(isTop && { project }), metadata: JSON.parse(metadata) });
    lines.push(line);
    chars += line.length;
  }
  if (lines.length > 0) yield Buffer.from(lines.join('\n'));
}

const takeDisk: Part = async (side, use) => {
  await withPastServer(side, 'runs', async ({ url }) => {
    const bytes = await readStoredBytes(url);
    await use(async () => ({ 'an event on disk, bytes': bytes / ROWS }));
  });
};

const POLL_EVERY_MS = 5;

/** From the command to the first 200 of `/ready`. */
const takeStarts: Part = async (side, use) => {
  await withLinkedCopy(side, async ({ dataDir }) => {
    await use(() =>
      withServer({ dataDir, root: side.root }, async ({ url, pid }) => {
        while (!(await fetch(`${url}/ready`)).ok) await wait(POLL_EVERY_MS);
        return { 'start until ready, core ms': treeMs(pid) };
      }),
    );
  });
};

const BATCHES = 20;
const WARM_UP_BATCHES = 40;
const EVENTS = BATCHES * EVENTS_PER_BATCH;
const MICROS_PER_CORE_MS = 1_000;

/** From socket to part, with the first merges. */
const takeIngest: Part = async ({ root }, use) => {
  await inTemporaryFolder((dataDir) =>
    withServer({ dataDir, root, env: { TAILRACE_LOG_LEVEL: 'warn' } }, async (server) => {
      // One request after another: how many are stored together would depend on the load of the machine. Each round has a day, and so
      // parts that are merged only with one another.
      const sendDay = async (requestsMax: number, daysAgo: number) => {
        const day = { eventsPerRequest: EVENTS_PER_BATCH, nowMs: START_MS - daysAgo * DAY_MS };
        await sendBatches(server, { connections: 1, requestsMax, send: day });
        await settle(server.pid);
      };
      await sendDay(WARM_UP_BATCHES, 0);
      let daysAgo = 0;
      await use(async () => {
        const { serviceMs, engineMs } = await takeService(server.pid, () => sendDay(BATCHES, ++daysAgo));
        const micros = (ms: number) => (ms * MICROS_PER_CORE_MS) / EVENTS;
        return {
          'an event in requests of 1,000, core µs': micros(serviceMs + engineMs),
          "the engine's share of it, core µs": micros(engineMs),
        };
      });
    }),
  );
};

const ASKED = 8;
const WARM_UP = 5;

/** New answers over HTTP. */
const takeQuestions: Part = async (side, use) => {
  await withPastServer(side, 'steps', async ({ url, pid, projects }) => {
    const agent = new Agent({ keepAlive: true });
    const questions = QUESTION_KINDS.map(({ name, question }) => ({
      name,
      path: (project: string) => pathOf(question(project)),
    }));
    const search = { ...WEEK_SEARCH, path: (project: string) => WEEK_SEARCH.path(project, START_MS) };
    const kinds = [...questions, search];
    const ask = async (path: (project: string) => string, times: number) => {
      for (let i = 0; i < times; i++) await askNew(url, agent, path(projects[i % projects.length] ?? ''));
    };
    for (const { path } of kinds) await ask(path, WARM_UP);
    await use(async () => {
      const round: Record<string, number> = {};
      for (const { name, path } of kinds) {
        const { serviceMs, engineMs } = await takeService(pid, () => ask(path, ASKED));
        round[`${name}, core ms`] = (serviceMs + engineMs) / ASKED;
      }
      return round;
    });
    agent.destroy();
  });
};

// Its code is compiled after some ten thousand requests.
const HITS = { connections: 32, warmUp: 40_000, amount: 10_000 };

const takeCached: Part = async (side, use) => {
  await withPastServer(side, 'runs', async (server) => {
    const { connections, warmUp, amount } = HITS;
    await fire(server, CACHED_PATH, { connections, amount: warmUp });
    await use(async () => {
      const { coreMicros } = await fire(server, CACHED_PATH, { connections, amount });
      return { 'cached GET on the main thread, core µs': coreMicros };
    });
  });
};
