import type { Source } from '../../../src/definitions/source.ts';
import { TailraceError } from '../../../src/errors.ts';
import { decodeBatch } from '../../../src/ingest/decode-batch.ts';
import { INLINE_BYTES_MAX, INLINE_MARKS_MAX } from '../../../src/ingest/ingest.ts';
import { type BodyFormat, countMarks } from '../../../src/ingest/wire-events.ts';
import { MICROS_PER_MS } from '../../../src/lib/instant.ts';
import { createRandom } from '../../../src/lib/random.ts';
import { frames, type MakeBody } from './bodies.ts';
import { show } from './http.ts';
import { mutate } from './junk.ts';
import { HTTP_DECODERS } from './table.ts';

/** Every decoder of events by its name, without the way to it. */
export const DIRECT_DECODERS: Readonly<
  Record<string, { readonly format: BodyFormat; readonly make: MakeBody }>
> = {
  ...HTTP_DECODERS,
  syslog: { format: 'syslog', make: frames },
};

export interface DirectResult {
  /** Bodies of which all events, some, and none became rows. */
  readonly whole: number;
  readonly partly: number;
  readonly refused: number;
  /** Errors that no protocol has an answer for, with the input. */
  readonly failures: readonly string[];
  /** Longest core time of one body, ms, of those that the service decodes on the thread that answers requests. */
  readonly longestMs: number;
}

const FAILURES_MAX = 10;
const CODES: readonly string[] = ['invalid_request', 'body_too_large'];
const EVENT_BYTES_MAX = 1_000_000;
const DECODED_BYTES_MAX = 10_000_000;

/** Decodes random bodies on this thread, as the service does with small ones, and large ones on another. The same seed gives the same bodies. */
export function fuzzDirectly(
  name: string,
  {
    sources,
    inputs,
    seed,
  }: { readonly sources: readonly Source[]; readonly inputs: number; readonly seed: number },
): DirectResult {
  const decoder = DIRECT_DECODERS[name];
  if (decoder === undefined) throw new Error(`there is no decoder ${name}`);
  const random = createRandom(`${name} ${seed}`);
  const now = Date.now() * MICROS_PER_MS;
  const counts = { whole: 0, partly: 0, refused: 0 };
  const failures: string[] = [];
  let longestMs = 0;
  for (let i = 0; i < inputs && failures.length < FAILURES_MAX; i++) {
    const bytes = mutate(decoder.make(random), random);
    const shown = show(bytes);
    const before = process.threadCpuUsage();
    const { length } = bytes;
    const isInline = length <= INLINE_BYTES_MAX && countMarks(bytes, decoder.format) <= INLINE_MARKS_MAX;
    try {
      const { refused, parts } = decodeBatch({
        ...{ bytes, format: decoder.format, context: {}, decodedBytesMax: DECODED_BYTES_MAX },
        ...{ candidates: sources, source: sources.find((source) => source.name === 'logs') },
        rules: { now, ageAt: now, eventBytesMax: EVENT_BYTES_MAX, project: '' },
      });
      if (refused === 0) counts.whole++;
      else if (parts.some(({ accepted }) => accepted > 0)) counts.partly++;
      else counts.refused++;
    } catch (error) {
      counts.refused++;
      const isKnown = error instanceof TailraceError && CODES.includes(error.code);
      if (!isKnown) failures.push(`${String(error)}, for ${shown}`);
    }
    const { user, system } = process.threadCpuUsage(before);
    if (isInline) longestMs = Math.max(longestMs, (user + system) / 1_000);
  }
  return { ...counts, failures, longestMs };
}
