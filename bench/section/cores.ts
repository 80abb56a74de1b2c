import { BY_MACHINE } from '../../src/config/machine.ts';
import { type BenchData, openBenchData } from '../data.ts';
import { askCold, openAgent } from '../http.ts';
import { mainThreadMs } from '../machine/core-time.ts';
import { coreCounts, findCpus } from '../machine/cpus.ts';
import { fitScaling, reckonMs, reckonRate, type ScalingModel } from '../machine/scaling.ts';
import { median } from '../measure.ts';
import { type PastServer, withPastServer } from '../past-server.ts';
import { QUESTION_KINDS } from '../questions.ts';
import { type Row, say, timesRow, Unmeasured } from '../report.ts';
import type { BenchOptions } from '../section.ts';
import { EVENTS_PER_BATCH, eventRate, load } from './ingest-load.ts';

const SECONDS = 10;
const WARM_UP_SECONDS = 3;
/** Enough that no core waits for a caller, and few enough that none is refused. */
const CALLERS_PER_CORE = 4;
const BATCH_CONNECTIONS = 2;
const RECKONED = [4, 8, 16];

interface Measured {
  readonly cores: number;
  /** Of one caller, ms. */
  readonly alone: readonly number[];
  readonly callers: number;
  readonly answersPerSecond: number;
  readonly loopMsPerAnswer: number;
  readonly besideBatches: { readonly answersPerSecond: number; readonly eventsPerSecond: number };
}

/** New answers with 1, 2 and more of the machine's cores, and what a model makes of them for machines with more. */
export async function coresSection({ rows, seconds }: BenchOptions): Promise<Row[]> {
  const cpus = findCpus();
  const counts = coreCounts(cpus.length);
  if (counts.length < 2) throw new Unmeasured('needs Linux and two cores');
  const data = await openBenchData(rows);
  const measured: Measured[] = [];
  for (const cores of counts)
    measured.push(await measureCores(data, cpus.slice(0, cores), Math.min(seconds, SECONDS)));
  return [...measured.flatMap(toRows), ...reckon(measured)];
}

async function measureCores(data: BenchData, cpus: readonly number[], seconds: number): Promise<Measured> {
  const cores = cpus.length;
  return await withPastServer(
    data,
    'steps',
    async (server) => {
      await askFor(server, 1, WARM_UP_SECONDS);
      const one = await askFor(server, 1, seconds);
      const callers = cores * CALLERS_PER_CORE;
      const many = await askFor(server, callers, seconds);
      const [beside, batches] = await Promise.all([
        askFor(server, callers, seconds),
        sendBatches(server, data.endMs, seconds),
      ]);
      say(
        `cores: ${cores}: ${median(one.times).toFixed(1)} ms, ${rateOf(many).toFixed(0)} answers/s; ` +
          `beside ${Math.round(batches)} events/s ${rateOf(beside).toFixed(0)}`,
      );
      return {
        cores,
        alone: one.times,
        callers,
        answersPerSecond: rateOf(many),
        loopMsPerAnswer: many.loopMs / many.times.length,
        besideBatches: { answersPerSecond: rateOf(beside), eventsPerSecond: batches },
      };
    },
    cpus,
  );
}

interface Asked {
  readonly times: readonly number[];
  readonly seconds: number;
  /** Core time of the service's event loop meanwhile. */
  readonly loopMs: number;
}

/** Every kind of question about one project after another, by several callers at once. */
async function askFor({ url, projects, pid }: PastServer, callers: number, seconds: number): Promise<Asked> {
  const agent = openAgent();
  const times: number[] = [];
  const startMs = performance.now();
  const loopStartMs = mainThreadMs(pid);
  let next = 0;
  const caller = async () => {
    while (performance.now() - startMs < seconds * 1000) {
      const i = next++;
      const kind = QUESTION_KINDS[i % QUESTION_KINDS.length];
      const project = projects[Math.floor(i / QUESTION_KINDS.length) % projects.length] ?? '';
      if (kind !== undefined) times.push(await askCold(url, agent, kind.question(project)));
    }
  };
  await Promise.all(Array.from({ length: callers }, caller));
  agent.destroy();
  return {
    times,
    seconds: (performance.now() - startMs) / 1000,
    loopMs: mainThreadMs(pid) - loopStartMs,
  };
}

async function sendBatches(server: PastServer, nowMs: number, secondsMax: number): Promise<number> {
  const send = { eventsPerRequest: EVENTS_PER_BATCH, nowMs };
  return eventRate(await load(server, { connections: BATCH_CONNECTIONS, secondsMax, send }));
}

function rateOf({ times, seconds }: Asked): number {
  return times.length / seconds;
}

function toRows({
  cores,
  alone,
  callers,
  answersPerSecond,
  loopMsPerAnswer,
  besideBatches,
}: Measured): Row[] {
  const name = (what: string) => `cores, ${cores}: ${what}`;
  const rate = 'answers/s';
  return [
    timesRow(name('a new answer, one caller'), alone),
    { name: name(`new answers, ${callers} callers`), unit: rate, values: [answersPerSecond] },
    { name: name('event loop, of each of these'), unit: 'core ms', values: [loopMsPerAnswer] },
    { name: name('new answers beside batches'), unit: rate, values: [besideBatches.answersPerSecond] },
    { name: name('events of these batches'), unit: 'events/s', values: [besideBatches.eventsPerSecond] },
  ];
}

/** The parts of the model, and what it makes of more cores than were measured, with the defaults of such a machine. */
function reckon(measured: readonly Measured[]): Row[] {
  const alone = fitScaling(measured.map((one) => ({ cores: one.cores, ms: median(one.alone) })));
  const many = fitScaling(measured.map((one) => ({ cores: one.cores, ms: 1000 / one.answersPerSecond })));
  const loopMs = median(measured.map((one) => one.loopMsPerAnswer));
  const most = Math.max(...measured.map(({ cores }) => cores));
  return [
    ...partRows('one caller', alone),
    ...partRows('each of many answers', many),
    ...RECKONED.filter((cores) => cores > most).flatMap((cores) => {
      const readers = BY_MACHINE.readers({ cores, memoryBytes: 0 });
      const { perSecond, bound } = reckonRate({ alone, many, loopMs, readers }, cores);
      const name = (what: string) => `cores, ${cores}, reckoned: ${what}`;
      return [
        { name: name('a new answer, one caller'), unit: 'ms', values: [reckonMs(alone, cores)] },
        { name: name(`new answers, bound by ${bound}`), unit: 'answers/s', values: [perSecond] },
      ];
    }),
  ];
}

function partRows(what: string, { serialMs, parallelMs }: ScalingModel): Row[] {
  return [
    { name: `model, ${what}: serial part`, unit: 'ms', values: [serialMs] },
    { name: `model, ${what}: parallel part, on one core`, unit: 'ms', values: [parallelMs] },
  ];
}
