import type { Alert, AlertCondition } from '../definitions/alert.ts';
import type { Holding, Labels, Outcome, RowValues } from './state.ts';

export type Row = Readonly<Record<string, unknown>>;

/** What an answer means for an alert. */
export interface Judgement {
  readonly outcome: Outcome;
  /** Bounds that the answer has met, for the history. */
  readonly notes: readonly string[];
}

/** Rows of an answer; one with more counts as failed. */
export const ROWS_MAX = 10_000;
// Labels are in every message, and in the state.
const TEXT_CHARS_MAX = 1_000;

/** Finds the instances for which the condition holds. Of several rows with the same labels the first one counts. */
export function judge({ when, per }: Pick<Alert, 'when' | 'per'>, rows: readonly Row[]): Judgement {
  if (rows.length > ROWS_MAX) {
    const reason = `the answer has more than ${ROWS_MAX} rows, so it was not read; add a LIMIT or max_rows`;
    return { outcome: { kind: 'failed', reason }, notes: [] };
  }
  if (rows.length === 0) return { outcome: { kind: 'no rows' }, notes: [] };
  const notes = new Set<string>();
  const holding = new Map<string, Holding>();
  for (const row of rows) {
    if (!holds(when, row)) continue;
    const labels = readLabels(per, row, notes);
    const key = JSON.stringify(Object.values(labels));
    if (!holding.has(key)) holding.set(key, { labels, values: readValues(per, row) });
  }
  return { outcome: { kind: 'rows', holding: [...holding.values()] }, notes: [...notes] };
}

function holds(when: AlertCondition, row: Row): boolean {
  if (when.kind === 'rows') return true;
  const value = row[when.column];
  if (when.kind === 'equals') return value === when.value;
  // The engine writes NaN as null.
  if (typeof value !== 'number') return false;
  return when.kind === 'above' ? value > Number(when.value) : value < Number(when.value);
}

function readLabels(per: readonly string[], row: Row, notes: Set<string>): Labels {
  return Object.fromEntries(
    per.map((name) => {
      const text = String(row[name] ?? '');
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
  return cut(typeof value === 'string' ? value : JSON.stringify(value));
}

function cut(text: string): string {
  return text.slice(0, TEXT_CHARS_MAX).toWellFormed();
}
