import type { Source } from '../definitions/source.ts';
import type { Event } from '../ingest/event.ts';
import { findValue, typedValues } from '../ingest/typed.ts';
import type { Micros } from '../lib/instant.ts';
import { createRandom, type Random } from '../lib/random.ts';
import { functionCalls } from './call.ts';
import type { Description } from './kind.ts';
import type { SamplePart } from './plan.ts';
import { createProjectPicker, type SampleOptions } from './project.ts';
import { spreadInstants } from './traffic.ts';

/** Generates the events of one source, in order of time. Lazy: memory does not grow with their number. */
export function* sampleEvents(part: SamplePart, options: SampleOptions): Generator<Event> {
  // `end` is part of the seed, so that a second sample has other ids.
  const random = createRandom(`${options.seed}/${part.source.name}/events/${options.end}`);
  const own = ownOccurrences(part, options, random);
  const calls = callOccurrences(part, options, random);
  for (const occurrence of mergeByTime(own, calls)) {
    yield createEvent(part.source, random.uuid(), occurrence);
  }
}

/** Something that a source describes in one event. */
interface Occurrence {
  readonly at: Micros;
  /** The reference of the project. */
  readonly project: string;
  readonly describe: () => Description;
}

/** Occurrences that only this source describes. */
function* ownOccurrences(
  { source, kind, rows, calls }: SamplePart,
  options: SampleOptions,
  random: Random,
): Generator<Occurrence> {
  const { describe } = kind;
  if (describe === undefined) return;
  const { seed, end } = options;
  const days = Math.min(options.days, source.retentionDays);
  const pickProject = createProjectPicker(options);
  const times = { rows: rows - calls.rows, days, end, seed: `${seed}/${source.name}/times/${end}` };
  for (const at of spreadInstants(times)) {
    const { project, failing } = pickProject(random, at);
    yield { at, project: project.ref, describe: () => describe({ random, project, at, failing }) };
  }
}

/** Calls of functions, which two sources describe. */
function* callOccurrences(
  { kind, calls }: SamplePart,
  options: SampleOptions,
  random: Random,
): Generator<Occurrence> {
  const { describeCall } = kind;
  if (describeCall === undefined) return;
  for (const call of functionCalls(calls, options)) {
    yield { at: call.at, project: call.project.ref, describe: () => describeCall(call, random) };
  }
}

function* mergeByTime(first: Iterator<Occurrence>, second: Iterator<Occurrence>): Generator<Occurrence> {
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

/** Creates the same event that `parseEvent` reads from its JSON. */
function createEvent(source: Source, id: string, { at, project, describe }: Occurrence): Event {
  const { message, metadata } = describe();
  const inTop = source.projectPaths[0]?.join('.') === 'project';
  const wire = { id, timestamp: at, event_message: message, ...(inTop && { project }), metadata };
  return {
    id,
    timestamp: at,
    project,
    message,
    metadata: JSON.stringify(metadata),
    attributes: '',
    typed: typedValues((path) => findValue(wire, path), project, source.columns),
  };
}
