import { COMMON_COLUMNS } from '../definitions/checks/source.ts';
import type { ColumnType, Source } from '../definitions/source.ts';

/** How a block holds the values of a column. `micros`: instants, µs since 1970. */
export type BlockKind = 'text' | 'integer' | 'number' | 'boolean' | 'micros';

/** A column of a block of rows, as plain data, which any thread or process can receive. */
export interface BlockColumn {
  readonly name: string;
  readonly kind: BlockKind;
}

const KINDS: Readonly<Record<ColumnType, BlockKind>> = {
  string: 'text',
  keyword: 'text',
  integer: 'integer',
  number: 'number',
  boolean: 'boolean',
};

/** Returns the columns of a source's blocks, in the order of `tableColumns`. */
export function blockColumns(source: Source): BlockColumn[] {
  const common = COMMON_COLUMNS.map((name) => ({
    name,
    kind: name === 'timestamp' ? ('micros' as const) : ('text' as const),
  }));
  return [...common, ...source.columns.map(({ name, type }) => ({ name, kind: KINDS[type] }))];
}
