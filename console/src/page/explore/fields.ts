import { useMemo } from 'react';
import type { SearchSource } from '../../../../src/management/view.ts';
import { type Row, toAnswer } from '../../api/answer.ts';
import { type Client, useClient } from '../../api/client.ts';
import { queries, useRead } from '../../api/queries.ts';
import { attributesOf, type Line } from './lines/line.ts';
import { type Search, searchPath } from './search.ts';

export interface FieldName {
  /** As a search writes it: `request.path`. */
  readonly name: string;
  readonly type: string;
  readonly description?: string;
}

export interface FieldValue {
  readonly value: string;
  readonly count: number;
}

const LINES_LOOKED_AT = 50;
const FOUND_MAX = 200;
/** Columns of each event that have another value in almost every one. */
export const UNIQUE: readonly string[] = ['id', 'timestamp', 'event_message', 'metadata'];
/** The service groups by no other names. */
const GROUP_NAME = /^[\w.@$-]{1,200}$/;
const NONE: readonly SearchSource[] = [];

/** The sources and fields that a search may name. */
export function useFields(search: Search, lines: readonly Line[]) {
  const client = useClient();
  const sources = useRead(queries.searchSources).value?.result ?? NONE;
  const declared = useMemo(() => {
    const searched = sources.filter(({ name, internal }) =>
      search.source.length === 0 ? !internal : search.source.includes(name),
    );
    const all = searched.flatMap(({ fields }) => fields.map((field) => [field.name, field] as const));
    return new Map<string, FieldName>(all);
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
  return {
    sources,
    /** Fields of the searched sources, then those that the newest lines have. */
    fields,
    /** Names of those whose values may be few, to count by. */
    groups: fields.map(({ name }) => name).filter((name) => !UNIQUE.includes(name) && GROUP_NAME.test(name)),
    /** The query for the most frequent values of a field. @param q which events count */
    valuesOf: (field: string, q = search.q) => createValuesQuery(client, { ...search, q }, field),
  };
}

function createValuesQuery(client: Client, search: Search, field: string) {
  const path = searchPath(search, search, { part: 'values', field });
  return {
    queryKey: [path],
    async queryFn({ signal }: { readonly signal: AbortSignal }): Promise<readonly FieldValue[]> {
      const { rows } = toAnswer(await client.callRaw(path, { signal }));
      return rows.map(toFieldValue);
    },
  };
}

export function toFieldValue({ value, count }: Row): FieldValue {
  return { value: String(value), count: Number(count) };
}
