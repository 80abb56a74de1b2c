import type { Source } from '../definitions/source.ts';
import type { Event } from '../ingest/event.ts';
import { typedValues } from '../ingest/typed.ts';
import type { Micros } from '../lib/instant.ts';
import { createRandom, createWeighted } from '../lib/random.ts';
import type { Description } from './kind.ts';
import type { SampleOptions, SamplePart } from './plan.ts';
import { createProjects } from './project.ts';
import { createOutages, spreadInstants } from './traffic.ts';

/** The events of one source, in order of time. Lazy: memory does not grow with their number. */
export function* sampleEvents({ source, kind, rows }: SamplePart, options: SampleOptions): Generator<Event> {
  const { seed, end } = options;
  const days = Math.min(options.days, source.retentionDays);
  const projects = createProjects(options.projects, seed);
  const pickProject = createWeighted(projects.map((project, i) => [project.weight, { project, i }]));
  // The outages are one and the same for all sources; the rest of each source is its own. With `end` in it, a second
  // sample of the same seed has other ids.
  const isFailing = createOutages({
    projects: projects.length,
    days: options.days,
    end,
    seed: `${seed}/outages/${end}`,
  });
  const random = createRandom(`${seed}/${source.name}/events/${end}`);
  for (const at of spreadInstants({ rows, days, end, seed: `${seed}/${source.name}/times/${end}` })) {
    const { project, i } = pickProject(random);
    const description = kind.describe({ random, project, at, failing: isFailing(i, at) });
    yield createEvent(source, { id: random.uuid(), timestamp: at, project: project.ref, description });
  }
}

interface Parts {
  readonly id: string;
  readonly timestamp: Micros;
  readonly project: string;
  readonly description: Description;
}

/** What `parseEvent` reads from the same event's JSON. */
function createEvent(source: Source, { id, timestamp, project, description }: Parts): Event {
  const { message, metadata } = description;
  const inTop = source.projectPaths[0]?.join('.') === 'project';
  const wire = { id, timestamp, event_message: message, ...(inTop && { project }), metadata };
  return {
    id,
    timestamp,
    project,
    message,
    metadata: JSON.stringify(metadata),
    attributes: '',
    typed: typedValues(wire, project, source.columns),
  };
}
