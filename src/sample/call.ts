import type { Micros } from '../lib/instant.ts';
import { createRandom, type Random } from '../lib/random.ts';
import type { SampleFunction } from './function.ts';
import type { Description } from './kind.ts';
import type { SampleOptions } from './plan.ts';
import type { Project } from './project.ts';
import { createScene } from './scene.ts';
import { spreadInstants } from './traffic.ts';

/** A call of a function. Two sources describe it: the gateway that the request came through, and the functions' own relay. */
export interface FunctionCall {
  readonly at: Micros;
  readonly project: Project;
  readonly called: SampleFunction;
  readonly status: number;
  /** With three decimals, as the relay measures it. */
  readonly executionMs: number;
}

/** How many calls there are, and how many days they reach back. */
export interface CallPlan {
  readonly rows: number;
  readonly days: number;
}

/** What is a source's own in the event of a call. @param random that of the source */
export type DescribeCall = (call: FunctionCall, random: Random) => Description;

/** The calls of a sample in order of time: the same ones for each source that describes them. */
export function* functionCalls({ rows, days }: CallPlan, options: SampleOptions): Generator<FunctionCall> {
  const { seed, end } = options;
  const scene = createScene(options);
  const random = createRandom(`${seed}/calls/${end}`);
  for (const at of spreadInstants({ rows, days, end, seed: `${seed}/calls/times/${end}` })) {
    const { project, failing } = scene.pick(random, at);
    const called = project.pickFunction(random);
    const status = pickStatus(random, failing);
    yield { at, project, called, status, executionMs: pickTime(called, random, failing) };
  }
}

const OUTAGE_SHARE = 0.4;
const OUTAGE_SLOWER = 3;

function pickStatus(random: Random, failing: boolean): number {
  if (failing && random.chance(OUTAGE_SHARE)) return random.pick([500, 500, 503, 504]);
  const luck = random.next();
  if (luck < 0.006) return random.pick([500, 546]); // 546: the function ran out of memory or time
  if (luck < 0.03) return random.pick([400, 401, 404]);
  return luck < 0.07 ? 204 : 200;
}

function pickTime({ medianMs, sigma }: SampleFunction, random: Random, failing: boolean): number {
  return Math.round(random.logNormal(medianMs, sigma) * (failing ? OUTAGE_SLOWER : 1) * 1_000) / 1_000;
}
