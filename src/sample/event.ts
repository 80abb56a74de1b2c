import type { Source } from '../definitions/source.ts';
import type { Event } from '../ingest/event.ts';
import { typedValues } from '../ingest/typed.ts';
import type { Micros } from '../lib/instant.ts';
import { createRandom, type Random } from '../lib/random.ts';
import { functionCalls } from './call.ts';
import type { Description } from './kind.ts';
import type { SampleOptions, SamplePart } from './plan.ts';
import { createScene } from './scene.ts';
import { spreadInstants } from './traffic.ts';

/** The events of one source, in order of time. Lazy: memory does not grow with their number. */
export function* sampleEvents(part: SamplePart, options: SampleOptions): Generator<Event> {
  // With `end` in it, a second sample of the same seed has other ids.
  const random = createRandom(`${options.seed}/${part.source.name}/events/${options.end}`);
  const own = ownHappenings(part, options, random);
  const calls = callHappenings(part, options, random);
  for (const { at, project, describe } of mergeByTime(own, calls)) {
    yield createEvent(part.source, { id: random.uuid(), timestamp: at, project, description: describe() });
  }
}

/** Something that a source has an event of. */
interface Happening {
  readonly at: Micros;
  /** Its reference. */
  readonly project: string;
  readonly describe: () => Description;
}

/** What no other source knows of. */
function* ownHappenings(
  { source, kind, rows, calls }: SamplePart,
  options: SampleOptions,
  random: Random,
): Generator<Happening> {
  const { describe } = kind;
  if (describe === undefined) return;
  const { seed, end } = options;
  const days = Math.min(options.days, source.retentionDays);
  const scene = createScene(options);
  const times = { rows: rows - calls.rows, days, end, seed: `${seed}/${source.name}/times/${end}` };
  for (const at of spreadInstants(times)) {
    const { project, failing } = scene.pick(random, at);
    yield { at, project: project.ref, describe: () => describe({ random, project, at, failing }) };
  }
}

/** Calls of functions, of which two sources have an event. */
function* callHappenings(
  { kind, calls }: SamplePart,
  options: SampleOptions,
  random: Random,
): Generator<Happening> {
  const { describeCall } = kind;
  if (describeCall === undefined) return;
  for (const call of functionCalls(calls, options)) {
    yield { at: call.at, project: call.project.ref, describe: () => describeCall(call, random) };
  }
}

function* mergeByTime(first: Iterator<Happening>, second: Iterator<Happening>): Generator<Happening> {
  let [a, b] = [first.next(), second.next()];
  while (!a.done || !b.done) {
    if (b.done || (!a.done && a.value.at <= b.value.at)) {
      yield a.value;
      a = first.next();
    } else {
      yield b.value;
      b = second.next();
    }
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
