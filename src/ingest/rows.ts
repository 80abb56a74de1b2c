import { MICROS_PER_DAY, MICROS_PER_MINUTE } from '../lib/instant.ts';
import { type Event, encodeRow } from './event.ts';

/** Rows for one day of one table, in the engine's format. */
export interface DayRows {
  /** Days since 1970, UTC. */
  readonly day: number;
  readonly count: number;
  readonly bytes: Buffer;
  /** Since 1970, UTC; each in which there is an event once. */
  readonly minutes: readonly number[];
}

/** Turns events into the bytes that are inserted, one at a time, so that each can be let go before the next is parsed. */
export interface RowEncoder {
  add(event: Event): void;
  /** Everything that was added; the encoder is empty then. */
  take(): DayRows[];
}

// Rows wait as text for company, since turning many small ones into bytes at once is cheaper; and not for long, since the
// garbage collector stops the thread for as long as it takes to move what is alive: bytes lie outside of its heap.
const TEXT_CHARS_MAX = 64 * 1024;

interface Day {
  text: string;
  count: number;
  readonly parts: Buffer[];
  readonly minutes: Set<number>;
  /** Of the event before; those that come together mostly lie in the same. */
  minute: number;
}

export function createRowEncoder(): RowEncoder {
  let days = new Map<number, Day>();
  return {
    add(event) {
      const day = getDay(days, Math.floor(event.timestamp / MICROS_PER_DAY));
      day.text += encodeRow(event);
      day.count++;
      const minute = Math.floor(event.timestamp / MICROS_PER_MINUTE);
      if (minute !== day.minute) day.minutes.add(minute);
      day.minute = minute;
      if (day.text.length >= TEXT_CHARS_MAX) cut(day);
    },
    take() {
      const taken = days;
      days = new Map();
      return [...taken].map(([day, rows]) => ({
        day,
        count: rows.count,
        bytes: join(rows),
        minutes: [...rows.minutes],
      }));
    },
  };
}

/** The rows of a list of events. */
export function encodeRows(events: Iterable<Event>): DayRows[] {
  const encoder = createRowEncoder();
  for (const event of events) encoder.add(event);
  return encoder.take();
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
