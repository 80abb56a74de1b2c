import type { AcceptedProtocol } from '../definitions/accepts.ts';
import type { Source } from '../definitions/source.ts';
import { MICROS_PER_DAY } from '../lib/instant.ts';
import type { BodyFormat, CutOptions, WireEvent } from './body-format.ts';
import { type Event, type EventRules, parseEvent } from './event.ts';
import { findFilter } from './filter/filter.ts';
import { createRejections, type EventCounts, NO_EVENTS, type Rejections } from './rejected.ts';
import { blockColumns, charsOf, createRowEncoder, type DayRows } from './rows.ts';
import { chooseSource, getSourceOfBody } from './source-name.ts';
import { type Amount, OverQuota } from './usage.ts';
import { cutEvents } from './wire-events.ts';

/** A request body with everything that decoding needs, so that any thread can decode it. */
export interface BatchInput extends CutOptions {
  readonly bytes: Buffer;
  readonly format: BodyFormat;
  /** The source that the request names; `undefined` leaves it to each event by `protocol`, else to a member of the body. */
  readonly source: Source | undefined;
  /** The sources that the body may name, or that may accept its events. */
  readonly candidates: readonly Source[];
  readonly protocol?: AcceptedProtocol | undefined;
  readonly rules: EventRules;
  /** From so many events on, those of the present day become blocks; `undefined` if the engine takes none. */
  readonly blockRowsMin?: number | undefined;
}

/** Events of one request that belong to one source, as rows, counted as if these were stored; `projects`: their sums. */
export interface SourceRows extends Readonly<EventCounts> {
  readonly source: Source;
  readonly rows: readonly DayRows[];
  readonly projects: ReadonlyMap<string, Amount>;
}

export interface Batch extends Rejections {
  /** Each source once; none if the body has no events that any source accepts. */
  readonly parts: readonly SourceRows[];
}

/** Decodes a request body by the rules of docs/ingest.md. @throws TailraceError as `cutEvents` and `getSourceOfBody` */
export function decodeBatch(input: BatchInput): Batch {
  const { bytes, format, source, candidates, protocol, rules } = input;
  const { events, count, fields = {} } = cutEvents(bytes, format, input);
  const named = source ?? (protocol === undefined ? getSourceOfBody(candidates, fields) : undefined);
  const isLarge = count >= (input.blockRowsMin ?? Number.POSITIVE_INFINITY);
  const parts = new Map<Source, ReturnType<typeof createPart>>();
  const partOf = (one: Source) => {
    const known = parts.get(one);
    if (known !== undefined) return known;
    const part = createPart(one, rules, isLarge);
    parts.set(one, part);
    return part;
  };
  if (named !== undefined) partOf(named); // even without events: the response names it
  const echoes: string[] = [];
  const rejections = createRejections();
  let at = 0;
  for (const wire of events) {
    if (wire.echo !== undefined) echoes.push(wire.echo);
    let to: Source | undefined = named;
    try {
      to ??= chooseSource(candidates, protocol, wire);
      partOf(to).add(wire);
    } catch (error) {
      rejections.add(at, error, { wire, source: to });
      if (to !== undefined) partOf(to).reject();
    }
    at++;
  }
  const found = { parts: [...parts.values()].map((part) => part.finish()), ...rejections.finish(at) };
  return echoes.length > 0 ? { ...found, echoes } : found;
}

/**
 * Collects the rows of one source. @param isLarge whether the rows of the present day become blocks; those of other days
 * stay text, since a day may have few and an insert of blocks has the larger fixed cost
 */
function createPart(source: Source, rules: EventRules, isLarge: boolean) {
  const today = Math.floor(rules.now / MICROS_PER_DAY);
  const encoder = createRowEncoder(isLarge ? { columns: blockColumns(source), day: today } : undefined);
  const filter = findFilter(source);
  const projects = new Map<string, { events: number; bytes: number }>();
  const counts = { ...NO_EVENTS };
  return {
    /** @throws RejectedEvent as `parseEvent` */
    add(wire: WireEvent): void {
      const parsed = parseEvent(wire, source, rules);
      const event = filter === undefined ? parsed : filter(parsed, counts);
      if (event === undefined) return;
      if (rules.spent?.names.has(event.project) === true) throw new OverQuota(event.project, rules.spent);
      encoder.add(event);
      const amount = projects.get(event.project) ?? { events: 0, bytes: 0 };
      if (amount.events++ === 0) projects.set(event.project, amount);
      const bytes = bytesOf(event);
      amount.bytes += bytes;
      counts.stored++;
      if (event.project === '') counts.withoutProject++;
      if (bytes > charsOf(event) && hasReplacement(event)) counts.repaired++;
    },
    reject(): void {
      counts.rejected++;
    },
    finish: (): SourceRows => ({ source, rows: encoder.finish(), projects, ...counts }),
  };
}

const bytesOf = ({ message, metadata, attributes }: Event) =>
  Buffer.byteLength(message) + Buffer.byteLength(metadata) + Buffer.byteLength(attributes);

/** U+FFFD stands for bytes that are not UTF-8. */
const hasReplacement = ({ message, metadata, attributes }: Event) =>
  [message, metadata, attributes].some((text) => text.includes('\ufffd'));
