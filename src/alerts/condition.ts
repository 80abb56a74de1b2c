import { createHash } from 'node:crypto';
import type { Alert, AlertCondition } from '../definitions/alert.ts';
import type { Holding, Labels, Outcome, RowValues } from './state.ts';

export type Row = Readonly<Record<string, unknown>>;

/** What an answer means for an alert. */
export interface Judgement {
  readonly outcome: Outcome;
  /** Bounds that the answer has met, for the history. */
  readonly notes: readonly string[];
  readonly seen?: Seen | undefined;
}

/** Rows of an answer; one with more counts as failed. */
export const ROWS_MAX = 10_000;
// Labels are in every message, and in the state.
const TEXT_CHARS_MAX = 1_000;

/**
 * Finds the instances for which the condition holds. Of several rows with the same labels the first one counts.
 *
 * @param answer its rows, integers beyond 2^53 as BigInts, and one more than `maxRows` of the endpoint if there are more
 */
export function judge(
  { when, per }: Pick<Alert, 'when' | 'per'>,
  { rows: all, maxRows }: { readonly rows: readonly Row[]; readonly maxRows: number },
): Judgement {
  if (all.length > ROWS_MAX && maxRows > ROWS_MAX) {
    const reason = `the answer has more than ${ROWS_MAX} rows, so it was not read; add a LIMIT or max_rows`;
    return { outcome: { kind: 'failed', reason }, notes: [] };
  }
  const rows = all.slice(0, maxRows);
  if (rows.length === 0) return { outcome: { kind: 'no rows' }, notes: [], seen: findSeen(when, rows, 0) };
  const notes = new Set<string>();
  if (all.length > maxRows)
    notes.add(`the answer has more than max_rows, ${maxRows}; the alert does not see the other rows`);
  const holding = new Map<string, Holding>();
  let count = 0;
  for (const row of rows) {
    if (!holds(when, row, notes)) continue;
    count++;
    const labels = readLabels(per, row, notes);
    const key = JSON.stringify(Object.values(labels));
    if (!holding.has(key)) holding.set(key, { labels, values: readValues(per, row) });
  }
  const outcome = { kind: 'rows', holding: [...holding.values()] } as const;
  return { outcome, notes: [...notes], seen: findSeen(when, rows, count) };
}

function holds(when: AlertCondition, row: Row, notes: Set<string>): boolean {
  if (when.kind === 'rows') return true;
  const value = row[when.column];
  // The engine writes NaN as null.
  if (value === null || value === undefined)
    notes.add(`"${when.column}" is null or not a number in some rows, for which the condition does not hold`);
  if (when.kind === 'equals') return toNumber(value) === when.value;
  if (typeof value !== 'number' && typeof value !== 'bigint') return false;
  return when.kind === 'above' ? value > Number(when.value) : value < Number(when.value);
}

function readLabels(per: readonly string[], row: Row, notes: Set<string>): Labels {
  return Object.fromEntries(
    per.map((name) => {
      const value = row[name];
      const text = String(value ?? '');
      if (value === null || value === undefined)
        notes.add(`"${name}" is null in some rows, whose instances have it as an empty label`);
      if (text.length <= TEXT_CHARS_MAX) return [name, text];
      notes.add(`values of "${name}" are longer than ${TEXT_CHARS_MAX} characters and were cut`);
      return [name, cut(text)];
    }),
  );
}

function readValues(per: readonly string[], row: Row): RowValues {
  const others = Object.entries(row).filter(([name]) => !per.includes(name));
  return Object.fromEntries(others.map(([name, value]) => [name, toValue(value)]));
}

function toValue(value: unknown): string | number | null {
  if (typeof value === 'number' || value === null || value === undefined) return value ?? null;
  if (typeof value === 'bigint') return String(value); // a number would round it
  return cut(typeof value === 'string' ? value : JSON.stringify(value));
}

function cut(text: string): string {
  return text.slice(0, TEXT_CHARS_MAX).toWellFormed();
}

/** The least and the greatest value of one answer, for the chart of its alert. */
interface Seen {
  readonly low: number;
  readonly high: number;
}

const MEASURE_CHARS = 16;

/**
 * The column whose values a chart of the condition shows; `undefined`: it shows the number of rows for which the
 * condition holds.
 */
export function chartColumn(when: AlertCondition): string | undefined {
  return when.kind !== 'rows' && typeof when.value === 'number' ? when.column : undefined;
}

/** @param holding number of rows for which the condition holds @returns `undefined`: the answer has no value */
function findSeen(when: AlertCondition, rows: readonly Row[], holding: number): Seen | undefined {
  const column = chartColumn(when);
  if (column === undefined) return { low: holding, high: holding };
  let [low, high] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];
  for (const { [column]: exact } of rows) {
    const value = toNumber(exact);
    if (typeof value !== 'number') continue;
    low = Math.min(low, value);
    high = Math.max(high, value);
  }
  return low > high ? undefined : { low, high };
}

/** Rounds a BigInt; other values stay. */
function toNumber(value: unknown): unknown {
  return typeof value === 'bigint' ? Number(value) : value;
}

/** Identifies what the points of an alert are values of: those of another query or column are not drawn beside them. */
export function measureOf({
  endpoint,
  parameters,
  when,
}: Pick<Alert, 'endpoint' | 'parameters' | 'when'>): string {
  return hash([endpoint, parameters, chartColumn(when) ?? when]);
}

/** Identifies whose rows an alert reads: what is stored of others is not for callers who may read only these. */
export function aboutOf({ endpoint, parameters }: Pick<Alert, 'endpoint' | 'parameters'>): string {
  return hash([endpoint, parameters]);
}

function hash(about: readonly unknown[]): string {
  return createHash('sha256').update(JSON.stringify(about)).digest('hex').slice(0, MEASURE_CHARS);
}
