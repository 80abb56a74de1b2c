import type { Micros } from '../lib/instant.ts';
import { createWeighted, type Random } from '../lib/random.ts';
import type { SampleOptions } from './plan.ts';
import { createProjects, type Project } from './project.ts';
import { createOutages } from './traffic.ts';

/** What all sources of a sample have in common: its projects, how much traffic each has, and their outages. */
export interface Scene {
  /** A project by its share of the traffic, and whether it has an outage at that instant. */
  pick(random: Random, at: Micros): { readonly project: Project; readonly failing: boolean };
}

export function createScene({ projects: count, days, end, seed }: SampleOptions): Scene {
  const projects = createProjects(count, seed);
  const pickProject = createWeighted(projects.map((project, i) => [project.weight, { project, i }]));
  // With `end` in it, a second sample of the same seed has others.
  const isFailing = createOutages({ projects: count, days, end, seed: `${seed}/outages/${end}` });
  return {
    pick(random, at) {
      const { project, i } = pickProject(random);
      return { project, failing: isFailing(i, at) };
    },
  };
}
