import type { Micros } from '../lib/instant.ts';
import { createRandom, createWeighted, type Random } from '../lib/random.ts';
import { createOutages } from './traffic.ts';

/** The content of a sample. The same options, including `end`, always give the same events. */
export interface SampleOptions {
  /** Events of all sources together. */
  readonly rows: number;
  readonly seed: number;
  /** Days that the events reach back, at most the retention of each source. */
  readonly days: number;
  readonly projects: number;
  /** The instant up to which there are events. */
  readonly end: Micros;
}

/** A project of a sample. */
export interface Project {
  readonly ref: string;
  readonly host: string;
  /** Picks the function of an invocation, by how often each is called. */
  readonly pickFunction: (random: Random) => SampleFunction;
}

/** A serverless function of a project. */
export interface SampleFunction {
  readonly id: string;
  readonly name: string;
  readonly deploymentId: string;
  readonly version: string;
  readonly region: string;
  readonly method: 'GET' | 'POST';
  /** Median of the execution time. */
  readonly medianMs: number;
  /** Deviation of the execution time's logarithm. */
  readonly sigma: number;
}

/** Picks a project by its share of the traffic, and says whether it has an outage at that instant. */
export type PickProject = (
  random: Random,
  at: Micros,
) => { readonly project: Project; readonly failing: boolean };

// Short, and none is part of another or of a path: usage.api-counts finds a project inside the URL.
const NAMES = (
  'aurora basalt cobalt dahlia ember fjord glacier harbor indigo juniper ' +
  'kestrel lagoon meadow nimbus opal pebble quartz saffron tundra willow'
).split(' ');

/** Creates the projects that all sources of a sample share; the same seed gives the same functions for any time and number of rows. */
export function createProjectPicker({ projects: count, days, end, seed }: SampleOptions): PickProject {
  const pick = createWeighted(
    Array.from({ length: count }, (_, i) => {
      const ref = NAMES[i] ?? `site-${String(i).padStart(4, '0')}`;
      const pickFunction = createFunctionPicker(createRandom(`${seed}/functions/${ref}`));
      const project: Project = { ref, host: `${ref}.example.com`, pickFunction };
      return [1 / (i + 1), { project, i }] as const; // Zipf's law: the second has half the traffic of the first
    }),
  );
  // `end` is part of the seed, so that a second sample has other outages.
  const isFailing = createOutages({ projects: count, days, end, seed: `${seed}/outages/${end}` });
  return (random, at) => {
    const { project, i } = pick(random);
    return { project, failing: isFailing(i, at) };
  };
}

const REGIONS = ['eu-central-1', 'us-east-1', 'ap-southeast-2'];

// One function is slow, for readers of functions.invocation-stats to find.
const FUNCTIONS = [
  { weight: 34, name: 'stripe-webhook', method: 'POST', medianMs: 85, sigma: 0.5 },
  { weight: 26, name: 'search', method: 'GET', medianMs: 42, sigma: 0.6 },
  { weight: 18, name: 'resize-image', method: 'POST', medianMs: 240, sigma: 0.7 },
  { weight: 14, name: 'send-receipt', method: 'POST', medianMs: 130, sigma: 0.4 },
  { weight: 8, name: 'render-report', method: 'POST', medianMs: 3_800, sigma: 0.45 },
] as const;

function createFunctionPicker(random: Random): (random: Random) => SampleFunction {
  const region = random.pick(REGIONS);
  return createWeighted(
    FUNCTIONS.map(({ weight, ...rest }) => {
      const id = random.uuid();
      const version = String(random.whole(1, 40));
      return [weight, { id, deploymentId: `${id}_${version}`, version, region, ...rest }] as const;
    }),
  );
}
