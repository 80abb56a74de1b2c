import type { Micros } from '../lib/instant.ts';
import { createRandom, type Random } from '../lib/random.ts';
import { createProjectPicker, type Project, type SampleFunction, type SampleOptions } from './project.ts';
import { spreadInstants } from './traffic.ts';

/** A call of a function. Two sources describe it: the gateway that the request passed, and the relay of the functions. */
export interface FunctionCall {
  readonly at: Micros;
  readonly project: Project;
  readonly called: SampleFunction;
  readonly status: number;
  /** Milliseconds with three decimals, as the relay measures. */
  readonly executionMs: number;
}

/** The number of calls, and of the days that they reach back. */
export interface CallPlan {
  readonly rows: number;
  readonly days: number;
}

/** Generates the calls of a sample in order of time: the same for each source that describes them. */
export function* functionCalls({ rows, days }: CallPlan, options: SampleOptions): Generator<FunctionCall> {
  const { seed, end } = options;
  const pickProject = createProjectPicker(options);
  const random = createRandom(`${seed}/calls/${end}`);
  for (const at of spreadInstants({ rows, days, end, seed: `${seed}/calls/times/${end}` })) {
    const { project, failing } = pickProject(random, at);
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
