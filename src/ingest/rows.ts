import { MICROS_PER_DAY, MICROS_PER_MINUTE } from '../lib/instant.ts';
import { type Event, encodeRow } from './event.ts';

/** Rows for one day of one table, in the engine's format. */
export interface DayRows {
  /** Days since 1970, UTC. */
  readonly day: number;
  readonly count: number;
  readonly bytes: Buffer;
  /** Minutes since 1970, UTC, that hold an event; each once. */
  readonly minutes: readonly number[];
}

// Rows are collected as text, since encoding many small ones at once is cheaper; but not for long, since garbage collection
// stops the thread while it moves live objects, and bytes lie outside of the heap.
const TEXT_CHARS_MAX = 64 * 1024;

interface Day {
  text: string;
  count: number;
  readonly parts: Buffer[];
  readonly minutes: Set<number>;
  /** The minute of the previous event: most neighbours share it. */
  minute: number;
}

/** Encodes events as the bytes of an insert, one at a time, so that each can be freed before the next is parsed. */
export function createRowEncoder() {
  const days = new Map<number, Day>();
  return {
    add(event: Event): void {
      const day = getDay(days, Math.floor(event.timestamp / MICROS_PER_DAY));
      day.text += encodeRow(event);
      day.count++;
      const minute = Math.floor(event.timestamp / MICROS_PER_MINUTE);
      if (minute !== day.minute) day.minutes.add(minute);
      day.minute = minute;
      if (day.text.length >= TEXT_CHARS_MAX) cut(day);
    },
    /** Returns everything that was added; nothing can be added afterwards. */
    finish: (): DayRows[] =>
      [...days].map(([day, rows]) => ({
        day,
        count: rows.count,
        bytes: join(rows),
        minutes: [...rows.minutes],
      })),
  };
}

/** Encodes the rows of a list of events. */
export function encodeRows(events: Iterable<Event>): DayRows[] {
  const encoder = createRowEncoder();
  for (const event of events) encoder.add(event);
  return encoder.finish();
}

function getDay(days: Map<number, Day>, number: number): Day {
  const known = days.get(number);
  if (known !== undefined) return known;
  const day = { text: '', count: 0, parts: [], minutes: new Set<number>(), minute: Number.NaN };
  days.set(number, day);
  return day;
}

function cut(day: Day): void {
  day.parts.push(Buffer.from(day.text));
  day.text = '';
}

function join(day: Day): Buffer {
  cut(day);
  const [first, ...more] = day.parts;
  return first !== undefined && more.length === 0 ? first : Buffer.concat(day.parts);
}
