import type { Endpoint } from '../definitions/endpoint.ts';
import { CURSOR_PREFIX, PAGE_FROM, PAGE_UNTIL, type PageRange, type Pages } from '../definitions/pages.ts';
import { NOW_PARAMETER } from '../definitions/parameter.ts';
import {
  EARLIEST_MICROS,
  formatInstant,
  LATEST_MICROS,
  MICROS_PER_MS,
  type Micros,
  parseInstant,
} from '../lib/instant.ts';
import type { Values } from '../sql/quote.ts';
import type { ParameterValues } from './parameters.ts';

/** The upper bound of a range without one; optional conditions with it are left out. */
export const UNBOUNDED = formatInstant(LATEST_MICROS);

/** The values that the service binds in an endpoint's SQL: the instant and, with pages, the range, of which it may be a part. */
export function serviceValues(
  { pages }: Pick<Endpoint, 'pages'>,
  values: ParameterValues,
  { instantMs, from }: { instantMs: number; from?: Micros | undefined },
): Values {
  const now = { [NOW_PARAMETER]: formatInstant(instantMs * MICROS_PER_MS) };
  return pages === undefined ? now : { ...now, ...pageValues(pages, values, from) };
}

/** The times of the rows of a page, both inclusive: what the caller asked for and, after a cursor, what is left of it. */
export function findPageRange({ by }: Pages, { after, until }: PageRange, values: ParameterValues) {
  const start = instantOf(after, values);
  const end = instantOf(until, values) ?? LATEST_MICROS;
  const position = values[CURSOR_PREFIX + by[0]?.name] || LATEST_MICROS;
  return {
    // Instants are whole microseconds.
    from: start === undefined ? EARLIEST_MICROS : Math.min(start + 1, LATEST_MICROS),
    until: Math.max(Math.min(end, Number(position)), EARLIEST_MICROS),
  };
}

function instantOf(name: string | undefined, values: ParameterValues): Micros | undefined {
  return name === undefined ? undefined : parseInstant(values[name] ?? '');
}

/** What `@page_from` and `@page_until` are bound to. @param from reads only rows of this instant and later ones */
function pageValues(pages: Pages, values: ParameterValues, from = EARLIEST_MICROS) {
  if (pages.range === undefined) return {};
  const range = findPageRange(pages, pages.range, values);
  return {
    [PAGE_FROM]: formatInstant(Math.max(range.from, from)),
    [PAGE_UNTIL]: formatInstant(range.until),
  };
}
