import { useEffect, useEffectEvent, useState } from 'react';
import type { FieldValue } from './completion.ts';

/** Reads the most frequent values of a field, as a search writes its name. */
export type ReadValues = (field: string, signal: AbortSignal) => Promise<readonly FieldValue[]>;

interface FieldValues {
  readonly field?: string;
  readonly values: readonly FieldValue[];
  readonly state: 'none' | 'reading' | 'read' | 'failed';
}

const NONE: FieldValues = { values: [], state: 'none' };
// Almost every event has another value.
const UNLISTED = ['id', 'timestamp', 'event_message', 'metadata'];
// While a name is typed each letter may end a field.
const DELAY_MS = 150;

/** The most frequent values of a field, read as soon as it is wanted; the read ends when another one is. */
export function useFieldValues(wanted: string | undefined, readValues: ReadValues): FieldValues {
  const field = wanted === undefined || UNLISTED.includes(wanted) ? undefined : wanted;
  const [state, setState] = useState(NONE);
  const read = useEffectEvent(readValues);
  useEffect(() => {
    if (field === undefined) return;
    const controller = new AbortController();
    const { signal } = controller;
    const settle = (next: Omit<FieldValues, 'field'>) => {
      if (!signal.aborted) setState({ field, ...next });
    };
    const timer = setTimeout(() => {
      read(field, signal).then(
        (values) => settle({ values, state: 'read' }),
        () => settle({ values: [], state: 'failed' }),
      );
    }, DELAY_MS);
    return () => {
      clearTimeout(timer);
      controller.abort();
    };
  }, [field]);
  if (field === undefined) return NONE;
  return state.field === field ? state : { values: [], state: 'reading' };
}
