import type { AskStep, ResultColumn, Step } from '../../definitions/endpoint.ts';
import { SEARCH_FROM, SEARCH_UNTIL, type SearchScope, type WriteSearch, writeArms } from '../arms.ts';
import { column, type SearchFields } from '../field.ts';

// Far more events than a range can have.
const BITS_MAX = 40;

/** A sample of events: 1 of 2^`bits`. */
export interface Sample {
  readonly bits: number;
  /** Share of the events that are in the sample, 0 to 1. */
  readonly share: number;
}

/** Returns the largest sample that is expected to have at most so many of the events. */
export function chooseSample(events: number, rowsMax: number): Sample {
  let bits = 0;
  while (bits < BITS_MAX && events > rowsMax * 2 ** bits) bits++;
  return { bits, share: 2 ** -bits };
}

/**
 * Writes the condition of events in a sample, which depends only on them: the same events give the same sample, and a
 * larger sample has every event of a smaller one. `undefined` for all events.
 */
export function writeSample({ bits }: Sample): string | undefined {
  if (bits === 0) return undefined;
  return `bitAnd(cityHash64(${column('id')}, ${column('timestamp')}), ${2 ** bits - 1}) = 0`;
}

/** What `X-Sampled` says; `undefined` if all events are read. */
export function printShare(share: number): number | undefined {
  return share === 1 ? undefined : Number(share.toPrecision(4));
}

type WriteOfSource = (fields: SearchFields) => string;

/** Counts the events of the search that meet each condition; `undefined`: all of them. */
export async function countEvents(
  ask: AskStep,
  scope: SearchScope,
  conditions: readonly (WriteOfSource | undefined)[] = [undefined],
): Promise<number[]> {
  const names = conditions.map((_, i) => `n${i}`);
  const writeSelect: WriteSearch = (value) => {
    const select = (fields: SearchFields) =>
      conditions
        .map((write, i) => `${write === undefined ? 'count()' : `countIf(${write(fields)})`} AS n${i}`)
        .join(', ');
    const arms = writeArms(scope, value, { bounds: [SEARCH_FROM, SEARCH_UNTIL], select });
    return `SELECT ${names.map((name) => `sum(${name}) AS ${name}`).join(', ')} FROM (\n${arms}\n)`;
  };
  const [row] = await ask({ columns: names.map(toCount), maxRows: 1, writeSelect } satisfies Step);
  return names.map((name) => Number(row?.[name] ?? 0));
}

const toCount = (name: string): ResultColumn => ({ name, type: 'integer', description: 'Number of events.' });
