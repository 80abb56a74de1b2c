import type { Source } from '../definitions/source.ts';
import { rollupProjection } from './rollup.ts';

/** Data that the engine keeps beside the rows of each part: a data skipping index or a projection. */
export interface TableIndex {
  readonly kind: 'INDEX' | 'PROJECTION';
  readonly name: string;
  readonly definition: string;
}

/** Returns the indexes of a source's table, and its rollup. */
export function tableIndexes({ columns, rollup }: Source): TableIndex[] {
  const indexes = columns
    .filter((column) => column.hasSubstringIndex)
    .map(({ name }) => ({
      kind: 'INDEX' as const,
      name: `${name}_substrings`,
      definition: `\`${name}_substrings\` \`${name}\` TYPE ${SUBSTRINGS}`,
    }));
  return [MESSAGE_INDEX, ...indexes, ...(rollup === undefined ? [] : [rollupProjection(rollup)])];
}

// Three letters at a time: texts with identifiers in them have nearly all groups of four, and few of three. 4 KiB for each
// 8,192 rows is what one project's addresses fill by a third; bench/NOTES.md has the sizes that were tried.
const SUBSTRINGS = 'ngrambf_v1(3, 4096, 2, 0) GRANULARITY 8';

// For searches. Messages have identifiers, whose groups of three letters occur in any few thousand rows: hence four letters, and a filter for each granule.
// search/condition.ts writes the same expression.
const MESSAGE_INDEX: TableIndex = {
  kind: 'INDEX',
  name: 'event_message_substrings',
  definition: '`event_message_substrings` lower(event_message) TYPE ngrambf_v1(4, 4096, 1, 0) GRANULARITY 1',
};
