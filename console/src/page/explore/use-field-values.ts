import { skipToken, useQuery } from '@tanstack/react-query';
import { toAnswer } from '../../api/answer.ts';
import type { Client } from '../../api/client.ts';
import { pause } from '../../api/follow.ts';
import type { FieldValue, ValuesOf } from '../../ui/lines/field-list.tsx';
import { type Search, searchPath } from './search/search.ts';

/** The most frequent values of a field in the range of a search. @param q which events count */
export function createValuesOf(client: Client, search: Search, q: string): ValuesOf {
  return (field) => {
    const path = searchPath({ ...search, q }, search, { part: 'values', field });
    return {
      queryKey: [path],
      async queryFn({ signal }) {
        const { rows } = toAnswer(await client.callRaw(path, { signal }));
        return rows.map(({ value, count }) => ({ value: String(value), count: Number(count) }));
      },
    };
  };
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
      field === undefined
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
