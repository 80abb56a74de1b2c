import { useMemo } from 'react';
import type { SearchSource } from '../../../../src/management/view.ts';
import { useClient } from '../../api/client.ts';
import { queries, useRead } from '../../api/queries.ts';
import type { QueryFieldName, ValuesOf } from './completion.ts';
import { attributesOf, type Line } from './lines/line.ts';
import type { Search } from './search/search.ts';
import { createValuesOf } from './use-completion.tsx';

export interface Fields {
  readonly sources: readonly SearchSource[];
  /** Fields of the searched sources, then those that the newest lines have. */
  readonly fields: readonly QueryFieldName[];
  /** Names of those whose values may be few, to count by. */
  readonly groups: readonly string[];
  /** Values of the events found. */
  readonly valuesOf: ValuesOf;
  /** Values of all events in the range: the search that ran may be the one that is being changed. */
  readonly allValuesOf: ValuesOf;
}

const LINES_LOOKED_AT = 50;
const FOUND_MAX = 200;
/** A histogram cannot group by these: each event has another value, or the service has no name for it. */
const UNIQUE = ['id', 'timestamp', 'event_message', 'metadata'];
const GROUP_NAME = /^[\w.@$-]{1,200}$/;

/** The fields that a search may name. */
export function useFields(search: Search, lines: readonly Line[]): Fields {
  const client = useClient();
  const { value } = useRead(queries.searchSources);
  const sources = value?.result ?? NONE;
  const declared = useMemo(() => {
    const searched = sources.filter(({ name, internal }) =>
      search.source.length === 0 ? !internal : search.source.includes(name),
    );
    const all = searched.flatMap(({ fields }) => fields.map((field) => [field.name, field] as const));
    return new Map<string, QueryFieldName>(all);
  }, [sources, search.source]);
  const newest = lines[0]?.key;
  // Further lines rarely have other fields.
  // biome-ignore lint/correctness/useExhaustiveDependencies: see above
  const fields = useMemo(() => {
    const all = new Map(declared);
    for (const line of lines.slice(0, LINES_LOOKED_AT)) {
      for (const { field, value: found } of attributesOf(line.metadata)) {
        if (!all.has(field) && all.size < declared.size + FOUND_MAX)
          all.set(field, { name: field, type: typeof found === 'number' ? 'number' : 'json' });
      }
    }
    return [...all.values()];
  }, [declared, newest]);
  const groups = fields
    .map(({ name }) => name)
    .filter((name) => !UNIQUE.includes(name) && GROUP_NAME.test(name));
  return {
    ...{ sources, fields, groups },
    valuesOf: createValuesOf(client, search, search.q),
    allValuesOf: createValuesOf(client, search, ''),
  };
}

const NONE: readonly SearchSource[] = [];
