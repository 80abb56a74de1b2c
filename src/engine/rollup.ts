import { hash } from 'node:crypto';
import type { Rollup, Source } from '../definitions/source.ts';

// Rollups are aggregate projections: each part of a table keeps the aggregates of its own rows, so they follow late events, deletions,
// dropped days, merges and backups as the rows do. The engine reads them instead of rows if a query needs nothing else.

const NAME_PREFIX = 'rollup_';

// A range of one project is some dozens of rows; with the engine's 8,192 a query would read those of all projects.
const ROWS_PER_GRANULE = 64;

/** Returns the interval of an event as queries have to write it, letter by letter except for names of tables. */
function rollupInterval({ everySeconds }: Rollup): string {
  return `toStartOfInterval(timestamp, toIntervalMicrosecond(${everySeconds} * 1000000))`;
}

/** Returns the projection of a rollup. Its name depends on its definition, so that a part's projection is never that of another definition. */
export function rollupProjection(rollup: Rollup) {
  const keys = ['project', rollupInterval(rollup), ...rollup.by.map((column) => `\`${column}\``)].join(', ');
  // The newlines end trailing comments.
  const values = rollup.values.map(({ sql }) => `${sql}\n`).join(', ');
  const select = `(SELECT ${keys}, ${values} GROUP BY ${keys}) WITH SETTINGS (index_granularity = ${ROWS_PER_GRANULE})`;
  const name = NAME_PREFIX + hash('sha256', select).slice(0, 16);
  return { kind: 'PROJECTION' as const, name, definition: `\`${name}\` ${select}` };
}

/** Returns the names of a table's rollups that its source no longer has. @param definition of the table, by the engine */
export function findOldRollups({ rollup }: Source, definition: string): string[] {
  const present = rollup === undefined ? '' : rollupProjection(rollup).name;
  const found = definition.matchAll(/ PROJECTION (rollup_[0-9a-f]{16}) \(/g);
  return [...found].flatMap(([, name = '']) => (name === present ? [] : [name]));
}
