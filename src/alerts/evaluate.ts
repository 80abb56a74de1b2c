import { hash } from 'node:crypto';
import type { Alert, AlertCondition } from '../definitions/alert.ts';
import type { Endpoint } from '../definitions/endpoint.ts';
import type { Registry } from '../definitions/registry.ts';
import { laneOf } from '../engine/lanes.ts';
import { messageOf } from '../errors.ts';
import { parseExactJson } from '../lib/json.ts';
import { createSingleFlight, remember } from '../lib/single-flight.ts';
import { parseParameters } from '../query/parameters.ts';
import { createQuestion } from '../query/question.ts';
import type { Run } from '../query/run.ts';
import { type Holding, keyOf, type Labels, type Outcome, type RowValues } from './state.ts';

type Row = Readonly<Record<string, unknown>>;

/** What an answer means for an alert. */
interface Judgement {
  readonly outcome: Outcome;
  /** The least and the greatest value, for the chart of its alert. */
  readonly seen?: { readonly low: number; readonly high: number } | undefined;
}

/** Rows of an answer; one with more counts as failed. */
const ROWS_MAX = 10_000;
// Labels are in every message, and in the state.
const TEXT_CHARS_MAX = 1_000;

/** Asks the endpoint of an alert, by default the served one. @param nowMs `@now` @throws only the signal's reason */
export type Evaluate = (
  alert: Alert,
  at: { readonly nowMs: number; readonly signal?: AbortSignal; readonly endpoint?: Endpoint | undefined },
) => Promise<Judgement>;

// Alerts have their own lanes in the fair queue: neither they nor callers delay the others. No key has this id: those of
// the environment are called private and public, others are hexadecimal.
const LANE_KEY = 'alerts';

interface EvaluateParts {
  readonly registry: Pick<Registry, 'getEndpoint'>;
  /** Runs questions uncached. */
  readonly run: Run;
}

/** Evaluations of the same parameters and instant share one query. */
export function createEvaluate({ registry, run }: EvaluateParts): Evaluate {
  // One row beyond the bound shows that there are more. The runner keeps the statement of the copy.
  const askedOf = remember((endpoint: Endpoint) => ({
    endpoint: { ...endpoint, maxRows: Math.min(endpoint.maxRows, ROWS_MAX + 1) },
    flights: createSingleFlight<readonly Row[]>(),
  }));

  return async (alert, { nowMs, signal, endpoint: given }) => {
    try {
      const { endpoint, flights } = askedOf(given ?? registry.getEndpoint(alert.endpoint));
      const values = parseParameters(endpoint, alert.parameters);
      const lane = laneOf(LANE_KEY, alert.name);
      const query = async (own: AbortSignal) => {
        const question = createQuestion(endpoint, values);
        const { body } = await run(question, { lane, signal: own, instantMs: nowMs });
        return (parseExactJson(body.toString()) as { result: Row[] }).result; // written by query/format.ts
      };
      const { value: rows } = await flights.run(JSON.stringify([values, nowMs]), query, { signal });
      return judge(alert, rows);
    } catch (error) {
      signal?.throwIfAborted();
      return { outcome: { kind: 'failed', reason: messageOf(error) } };
    }
  };
}

/** Finds where the condition holds, by the first row of equal labels. @param all integers beyond 2^53 as BigInts */
export function judge({ when, per }: Pick<Alert, 'when' | 'per'>, all: readonly Row[]): Judgement {
  if (all.length > ROWS_MAX) {
    const reason = `the answer has more than ${ROWS_MAX} rows, so it was not read; add a LIMIT or max_rows`;
    return { outcome: { kind: 'failed', reason } };
  }
  const rows = all.filter((row) => holds(when, row));
  const seen = findSeen(when, all, rows.length);
  if (all.length === 0) return { outcome: { kind: 'no rows' }, seen };
  const holding = new Map<string, Holding>();
  for (const row of rows) {
    const labels = readLabels(per, row);
    const key = keyOf(labels);
    if (!holding.has(key)) holding.set(key, { labels, values: readValues(per, row) });
  }
  return { outcome: { kind: 'rows', holding: [...holding.values()] }, seen };
}

/** The engine writes NaN as null, for which no condition on a column holds. */
function holds(when: AlertCondition, row: Row): boolean {
  if (when.kind === 'rows') return true;
  const value = row[when.column];
  if (when.kind === 'equals') return toNumber(value) === when.value;
  if (typeof value !== 'number' && typeof value !== 'bigint') return false;
  return when.kind === 'above' ? value > Number(when.value) : value < Number(when.value);
}

/** A null is an empty label. */
function readLabels(per: readonly string[], row: Row): Labels {
  return Object.fromEntries(per.map((name) => [name, cut(String(row[name] ?? ''))]));
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

/** The column whose values a chart shows; `undefined`: it shows the number of rows for which the condition holds. */
export function chartColumn(when: AlertCondition): string | undefined {
  return when.kind !== 'rows' && typeof when.value === 'number' ? when.column : undefined;
}

/** @param holding number of rows for which the condition holds @returns `undefined`: the answer has no value */
function findSeen(when: AlertCondition, rows: readonly Row[], holding: number): Judgement['seen'] {
  const column = chartColumn(when);
  if (column === undefined) return { low: holding, high: holding };
  const values = rows.map((row) => toNumber(row[column])).filter((value) => typeof value === 'number');
  return values.length === 0 ? undefined : { low: Math.min(...values), high: Math.max(...values) };
}

/** Rounds a BigInt; other values stay. */
function toNumber(value: unknown): unknown {
  return typeof value === 'bigint' ? Number(value) : value;
}

/** Identifies what the points of an alert are values of: those of another query or column are not drawn beside them. */
export function measureOf({ endpoint, parameters, when }: Alert): string {
  return hashOf([endpoint, parameters, chartColumn(when) ?? when]);
}

/**
 * Identifies whose rows an alert reads: what is stored of others is not for callers who may read only these. Hashed once
 * for each alert: the ticks of a thousand are computed several times a second.
 */
export const aboutOf = remember(({ endpoint, parameters }: Pick<Alert, 'endpoint' | 'parameters'>) =>
  hashOf([endpoint, parameters]),
);

const hashOf = (about: readonly unknown[]) => hash('sha256', JSON.stringify(about)).slice(0, 16);
