import type { Line } from './line.ts';
import type { Slice } from './source.ts';

/** The line that an address names. */
export interface At {
  /** Microseconds since the epoch. */
  readonly micros: number;
  readonly source: string;
  readonly id: string;
}

/** `<micros>:<source>:<id>`: the time says where to read, since the service reads from the newest line on. */
export function formatAt({ micros, source, id }: At): string {
  return `${micros}:${source}:${id}`;
}

/** @returns undefined if the text does not name a line */
export function parseAt(text: string): At | undefined {
  const [, micros, source = '', id = ''] = /^(-?\d{1,16}):([^:]*):([\s\S]*)$/.exec(text) ?? [];
  return micros === undefined ? undefined : { micros: Number(micros), source, id };
}

export function isAt(line: Line, at: At): boolean {
  return line.micros === at.micros && line.id === at.id && line.source === at.source;
}

const AROUND_MS = 2 * 60_000;

/** The range that is shown around a line. */
export function rangeAround({ micros }: Pick<Line, 'micros'>): Slice {
  const ms = Math.floor(micros / 1000);
  return { fromMs: ms - AROUND_MS, untilMs: ms + AROUND_MS };
}
