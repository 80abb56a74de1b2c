import { createHash } from 'node:crypto';
import type { Alert, AlertCondition } from '../definitions/alert.ts';

/** The least and the greatest value of one answer, for the chart of its alert. */
export interface Seen {
  readonly low: number;
  readonly high: number;
}

const MEASURE_CHARS = 16;

/** The column whose values a chart of the condition shows; `undefined`: it shows the number of rows for which the condition holds. */
export function chartColumn(when: AlertCondition): string | undefined {
  return when.kind !== 'rows' && typeof when.value === 'number' ? when.column : undefined;
}

/** @param holding number of rows for which the condition holds @returns `undefined`: the answer has no value */
export function findSeen(
  when: AlertCondition,
  rows: readonly Readonly<Record<string, unknown>>[],
  holding: number,
): Seen | undefined {
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
export function toNumber(value: unknown): unknown {
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
