import { createRandom, type Random } from '../lib/random.ts';
import { createFunctionPicker, type SampleFunction } from './function.ts';

/** A project whose traffic is made up. */
export interface Project {
  /** Its reference. */
  readonly ref: string;
  /** Share of the traffic, compared with the other projects' weights. */
  readonly weight: number;
  readonly host: string;
  /** The function of an invocation. */
  readonly pickFunction: (random: Random) => SampleFunction;
}

// Short, and none stands within another or within a path: usage.api-counts finds a project inside the URL.
const NAMES = (
  'aurora basalt cobalt dahlia ember fjord glacier harbor indigo juniper ' +
  'kestrel lagoon meadow nimbus opal pebble quartz saffron tundra willow'
).split(' ');

/** The projects of a seed: the same ones, with the same functions, whatever the time and the number of rows. */
export function createProjects(count: number, seed: number): Project[] {
  return Array.from({ length: count }, (_, i) => {
    const ref = NAMES[i] ?? `site-${String(i).padStart(4, '0')}`;
    const pickFunction = createFunctionPicker(createRandom(`${seed}/functions/${ref}`));
    // As in Zipf's law: the second has half the traffic of the first, the third a third of it.
    return { ref, weight: 1 / (i + 1), host: `${ref}.example.com`, pickFunction };
  });
}
