import { parseLast, type TimeRange, toLast } from '../../format/range.ts';

/** The content of a dashboard's address: everything but the key. `?project=aurora&ui.range=7d` */
export interface DashboardAddress {
  /** Undefined: that of the file. */
  readonly range: TimeRange | undefined;
  /** Seconds; undefined: it is not read again. */
  readonly refresh: number | undefined;
  /** Whether its file is edited. */
  readonly isEdited: boolean;
  /** Values of the shared parameters; an empty one overrides the default of the file. */
  readonly values: Readonly<Record<string, string>>;
}

// Names of parameters have no dots, so these cannot collide.
const RANGE = 'ui.range';
const FROM = 'ui.from';
const UNTIL = 'ui.until';
const REFRESH = 'ui.refresh';
const EDIT = 'ui.edit';
export const REFRESHES: readonly number[] = [5, 10, 30, 60];

/** @param names of the shared parameters */
export function parseAddress(search: string, names: readonly string[]): DashboardAddress {
  const query = new URLSearchParams(search);
  const [from, until] = [query.get(FROM) ?? '', query.get(UNTIL) ?? ''];
  const last = parseLast(query.get(RANGE) ?? '');
  const isAbsolute = !Number.isNaN(Date.parse(from)) && !Number.isNaN(Date.parse(until));
  const refresh = Number(query.get(REFRESH));
  const values = names.flatMap((name) => {
    const value = query.get(name);
    return value === null ? [] : [[name, value] as const];
  });
  return {
    range: isAbsolute ? { kind: 'absolute', from, until } : last && { kind: 'last', range: last },
    refresh: REFRESHES.includes(refresh) ? refresh : undefined,
    isEdited: query.get(EDIT) === '1',
    values: Object.fromEntries(values),
  };
}

/** The query string without `?`. */
export function formatAddress({ range, refresh, isEdited, values }: DashboardAddress): string {
  const query = new URLSearchParams(values);
  if (range?.kind === 'last') query.set(RANGE, range.range);
  if (range?.kind === 'absolute') {
    query.set(FROM, range.from);
    query.set(UNTIL, range.until);
  }
  if (refresh !== undefined) query.set(REFRESH, String(refresh));
  if (isEdited) query.set(EDIT, '1');
  return query.toString();
}

/** The query string of the same page with or without the editor. */
export function withEditor(search: string, isEdited: boolean): string {
  const query = new URLSearchParams(search);
  if (isEdited) query.set(EDIT, '1');
  else query.delete(EDIT);
  return query.toString();
}

/** The range of a file. */
export function toRange(seconds: number): TimeRange {
  return { kind: 'last', range: toLast(seconds * 1000) ?? '24h' };
}
