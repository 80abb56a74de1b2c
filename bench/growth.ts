import { median } from './measure.ts';
import type { Row } from './report.ts';

/** The results for one number of rows. */
export interface SizeResult {
  readonly size: number;
  readonly rows: readonly Row[];
}

/** The rows of all sizes, named by size, and the growth from one size to the next. */
export function withGrowth(results: readonly SizeResult[]): Row[] {
  const named = results.flatMap(({ size, rows }) =>
    rows.map((row) => ({ ...row, name: `${describeSize(size)}: ${row.name}` })),
  );
  const sorted = results.toSorted((a, b) => a.size - b.size);
  return [...named, ...sorted.slice(1).flatMap((larger, i) => growthOf(sorted[i], larger))];
}

function growthOf(smaller: SizeResult | undefined, larger: SizeResult): Row[] {
  if (smaller === undefined) return [];
  return larger.rows.flatMap(({ name, growth, values, load }) => {
    const before = smaller.rows.find((row) => row.name === name);
    if (growth === undefined || before === undefined) return [];
    return {
      ...(load !== undefined && { load: Math.max(load, before.load ?? 0) }),
      name: `growth ${describeSize(smaller.size)} → ${describeSize(larger.size)}: ${name}`,
      unit: 'ratio',
      values: [median(values) / median(before.values)],
      goal: { below: growth === 'rows' ? larger.size / smaller.size : growth },
    };
  });
}

/** `1 M`, `300,000`. */
export function describeSize(rows: number): string {
  return rows % 1e6 === 0 ? `${rows / 1e6} M` : rows.toLocaleString('en');
}
