import type { SearchSource } from '../../../../src/management/view.ts';
import { formatTerm } from '../../format/search-text.ts';
import { type ExploreAddress, explorePath } from './address.ts';
import { formatAt, formatValue, type Line, valueAt } from './lines/line.ts';
import { toRange } from './search.ts';

const AROUND_MS = 2 * 60_000;

/** The path that shows the events around a line, for any search. */
export function pathAround(address: ExploreAddress, line: Line): string {
  return explorePath({
    ...address,
    ...around(line, AROUND_MS),
    ...{ q: '', project: line.project, live: false, view: 'lines', at: formatAt(line) },
  });
}

const TRACE_MS = 15 * 60_000;

/** The path that shows the events with the same trace as a line, from every source, in the order of time. */
export function pathOfTrace(address: ExploreAddress, line: Line, field: string): string | undefined {
  const value = valueAt(line, field);
  const isTrace = NAMES.some((name) => field === name || field.endsWith(`.${name}`));
  if (!isTrace || typeof value !== 'string' || value === '') return undefined;
  // Whichever name their source gives it.
  const terms = [...new Set([toPath(field), ...NAMES])].map((name) => formatTerm(name, value));
  const shown = { q: `(${terms.join(' or ')})`, project: address.project, view: 'timeline' as const };
  return explorePath({ ...shown, ...around(line, TRACE_MS) });
}

function around({ micros }: Line, halfMs: number) {
  const ms = Math.floor(micros / 1000);
  return toRange(ms - halfMs, ms + halfMs);
}

/** Names under which senders write the id of a trace. */
const NAMES = ['trace_id', 'traceId', 'trace.id', 'traceID'];

/** A search may name a path of the metadata with `metadata.` before it, or without. */
function toPath(field: string): string {
  return field.replace(/^metadata\./, '');
}

/** The pages elsewhere that a line's source has about a value. */
export function linksOf(sources: readonly SearchSource[], line: Line, field: string) {
  const links = sources.find(({ name }) => name === line.source)?.links ?? [];
  return links
    .filter((link) => toPath(link.field) === toPath(field))
    .flatMap(({ label, url }) => {
      const filled = fillLink(url, (name) =>
        formatValue(valueAt(line, name === 'value' ? field : name) ?? ''),
      );
      return filled === undefined ? [] : [{ label, url: filled }];
    });
}

/**
 * The address of a link (docs/sources.md): each `{…}` is replaced by a value, encoded.
 *
 * @param textOf the text of a field, or of `value`; empty if there is none
 * @returns undefined if a value is missing
 */
function fillLink(url: string, textOf: (field: string) => string): string | undefined {
  let isWhole = true;
  const filled = url.replaceAll(/\{([^{}]*)\}/g, (_whole, field: string) => {
    const value = textOf(field);
    isWhole &&= value !== '';
    return encodeURIComponent(value.toWellFormed());
  });
  return isWhole ? filled : undefined;
}
