import { queryOptions, skipToken, useQuery } from '@tanstack/react-query';
import type { Client } from '../../api/client.ts';
import { pause } from '../../api/follow.ts';
import { toAnswer } from '../endpoint/answer.ts';
import type { FieldValue } from './completion.ts';
import { type Search, searchPath } from './search/search.ts';

/** The query for the most frequent values of a field, as a search writes its name. */
export type ValuesOf = (field: string) => ReturnType<typeof valuesQuery>;

/** The most frequent values of a field in the range of a search. @param q which events count */
export function valuesQuery(client: Client, search: Search, { q, field }: { q: string; field: string }) {
  const path = searchPath({ ...search, q }, search, { part: 'values', field });
  return queryOptions({
    queryKey: [path],
    async queryFn({ signal }): Promise<readonly FieldValue[]> {
      const { rows } = toAnswer(await client.callRaw(path, { signal }));
      return rows.map(({ value, count }) => ({ value: String(value), count: Number(count) }));
    },
  });
}

interface FieldValues {
  readonly values: readonly FieldValue[];
  readonly state: 'none' | 'reading' | 'read' | 'failed';
}

const NONE: readonly FieldValue[] = [];
// Almost every event has another value.
const UNLISTED = ['id', 'timestamp', 'event_message', 'metadata'];
// While a name is typed each letter may end a field.
const DELAY_MS = 150;

/** The most frequent values of a field, read once it is wanted for a moment; the read ends when another one is. */
export function useFieldValues(wanted: string | undefined, valuesOf: ValuesOf): FieldValues {
  const field = wanted === undefined || UNLISTED.includes(wanted) ? undefined : wanted;
  const { queryKey, queryFn } = valuesOf(field ?? '');
  const { data = NONE, status } = useQuery({
    queryKey,
    queryFn:
      field === undefined || typeof queryFn !== 'function'
        ? skipToken
        : async (context) => {
            await pause(DELAY_MS, context.signal);
            return queryFn(context);
          },
    // A list that is open does not change; another range or field is another query.
    staleTime: Number.POSITIVE_INFINITY,
  });
  const state = { pending: 'reading', success: 'read', error: 'failed' } as const;
  return field === undefined ? { values: NONE, state: 'none' } : { values: data, state: state[status] };
}
