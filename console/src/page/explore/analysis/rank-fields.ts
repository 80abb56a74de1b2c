/** What `part=fields` says of a field (docs/search.md). */
export interface FieldSummary {
  readonly field: string;
  /** Share of the events that have a value, 0 to 1. */
  readonly coverage: number;
  readonly distinct: number;
  readonly top: readonly { readonly value: string; readonly count: number }[];
  readonly min: number | null;
  readonly max: number | null;
  readonly p50: number | null;
  readonly p95: number | null;
}

/** Values that a reader still sees at a glance. */
const FEW = 50;
const CONSTANT = 0.1;
const MANY = 0.3;

/** The fields of the result, the most useful first: those that most events have, with few enough values to tell events apart. */
export function rankFields(fields: readonly FieldSummary[]): readonly FieldSummary[] {
  return fields
    .filter(({ coverage }) => coverage > 0)
    .toSorted((a, b) => usefulness(b) - usefulness(a) || a.field.localeCompare(b.field));
}

function usefulness({ coverage, distinct, p50 }: FieldSummary): number {
  if (distinct <= 1) return coverage * CONSTANT;
  // Numbers have a range, however many values they have.
  return distinct <= FEW || p50 !== null ? coverage : coverage * MANY;
}
