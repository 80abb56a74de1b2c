import { InvalidArgumentError } from 'commander';
import type { QuestionKind } from '../questions.ts';
import type { Goal } from '../report.ts';
import { openDuckDb } from './duckdb.ts';
import { openPostgres } from './postgres.ts';
import type { OpenRivalEngine, RivalVariant } from './rival.ts';

export interface RivalEntry {
  /** Its name in the report if it is not available. */
  readonly title: string;
  readonly open: OpenRivalEngine;
  readonly variant: RivalVariant;
  /** The least of its median divided by ours; `undefined`: for comparison only. */
  readonly atLeast: (kind: string, rows: number) => number | undefined;
}

const POSTGRES_GOALS_ROWS_MIN = 1_000_000;
/** Faster than PostgreSQL in all but the hourly count, which reads few rows by any index. */
const besidePostgres: RivalEntry['atLeast'] = (kind, rows) => {
  if (rows < POSTGRES_GOALS_ROWS_MIN) return undefined;
  return kind === 'usage.api-counts hourly' ? 0.5 : 1;
};

const DUCKDB_GOALS_ROWS_MIN = 10_000_000;

/** Usage three times as fast. Statistics are compared behind HTTP, since a socket and JSON have a price. */
function besideDuckDb(stats: number | undefined): RivalEntry['atLeast'] {
  return (kind, rows) => {
    if (rows < DUCKDB_GOALS_ROWS_MIN) return undefined;
    if (kind.startsWith('functions.')) return stats;
    return kind.startsWith('usage.') ? 3 : 1;
  };
}

/** The rivals, by their names in `--rivals`. */
const RIVALS = {
  postgresql: {
    title: 'PostgreSQL, one JSONB column',
    open: openPostgres,
    variant: 'plain',
    atLeast: besidePostgres,
  },
  'postgresql-indexed': {
    title: 'PostgreSQL, indexes on project and time',
    open: openPostgres,
    variant: 'extended',
    atLeast: besidePostgres,
  },
  duckdb: { title: 'DuckDB', open: openDuckDb, variant: 'plain', atLeast: besideDuckDb(undefined) },
  'duckdb-http': {
    title: 'DuckDB behind Fastify',
    open: openDuckDb,
    variant: 'extended',
    atLeast: besideDuckDb(1),
  },
} as const satisfies Readonly<Record<string, RivalEntry>>;

export const RIVAL_NAMES = Object.keys(RIVALS);

/** Beyond this, a rival takes hours; `--rivals` includes it nevertheless. */
export const RIVALS_ROWS_MAX = 10_000_000;

/** @throws InvalidArgumentError for an unknown name */
export function parseRivals(names: readonly string[] = RIVAL_NAMES): RivalEntry[] {
  return names.map((name) => {
    const [, known] = Object.entries(RIVALS).find(([one]) => one === name) ?? [];
    if (known === undefined)
      throw new InvalidArgumentError(`There is no rival ${name}; there are ${RIVAL_NAMES.join(', ')}.`);
    return known;
  });
}

/** The goal for the rival's median as a multiple of ours. */
export function rivalGoal({ atLeast }: RivalEntry, { name }: QuestionKind, rows: number): { goal?: Goal } {
  const times = atLeast(name, rows);
  return times === undefined ? {} : { goal: { atLeast: times } };
}
