import { useLocation, useSearch } from 'wouter';
import { rangeParameters, readRange, type TimeRange, toLast } from '../../format/range.ts';

// Names of parameters have no dots, so these cannot collide.
const PREFIX = 'ui.';
export const REFRESH = 'ui.refresh';
export const EDIT = 'ui.edit';
export const REFRESHES: readonly number[] = [5, 10, 30, 60];

/** Everything of a dashboard's address: `?project=aurora&ui.range=7d`. @param names of the shared parameters */
export function parseAddress(search: string, names: readonly string[]) {
  const query = new URLSearchParams(search);
  const refresh = Number(query.get(REFRESH));
  const values = names.flatMap((name) => {
    const value = query.get(name);
    return value === null ? [] : [[name, value] as const];
  });
  return {
    /** Undefined: that of the file. */
    range: readRange(query, PREFIX),
    /** Seconds; undefined: it is not read again. */
    refresh: REFRESHES.includes(refresh) ? refresh : undefined,
    isEdited: query.get(EDIT) === '1',
    /** Values of the shared parameters; an empty one overrides the default of the file. */
    values: Object.fromEntries(values),
  };
}

type Members = Readonly<Record<string, string | undefined>>;

export function formatRange(range: TimeRange): Members {
  return rangeParameters(range, PREFIX);
}

/** Returns what changes members of the page's address; undefined removes one. */
export function useAddressChange() {
  const query = new URLSearchParams(useSearch());
  const [path, navigate] = useLocation();
  return (members: Members, options?: { readonly replace: boolean }) => {
    for (const [name, value] of Object.entries(members)) {
      if (value === undefined) query.delete(name);
      else query.set(name, value);
    }
    navigate(query.size === 0 ? path : `${path}?${query}`, options);
  };
}

export function toRange(seconds: number): TimeRange {
  return { kind: 'last', range: toLast(seconds * 1000) ?? '24h' };
}
