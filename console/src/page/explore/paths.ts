import { formatTerm } from '../../format/search-text.ts';
import { formatIso } from '../../format/time.ts';
import { type ExploreAddress, explorePath } from './address.ts';
import { formatAt, type Line, rangeAround, valueAt } from './lines/line.ts';

/** The path that shows the events around a line, for any search. */
export function pathAround(address: ExploreAddress, line: Line): string {
  const { fromMs, untilMs } = rangeAround(line);
  return explorePath({
    ...address,
    ...toRange(fromMs, untilMs),
    ...{ q: '', project: line.project, live: false, view: 'lines', at: formatAt(line) },
  });
}

/** Half of the time in which the events of a trace are looked for. */
const TRACE_MS = 15 * 60_000;

/** The path that shows the events with the same trace as a line, from every source, in the order of time. */
export function pathOfTrace(address: ExploreAddress, line: Line, field: string): string | undefined {
  const value = valueAt(line, field);
  if (!isTraceField(field) || typeof value !== 'string' || value === '') return undefined;
  const atMs = Math.floor(line.micros / 1000);
  return explorePath({
    ...{ q: formatTrace(field, value), project: address.project, view: 'timeline' },
    ...toRange(atMs - TRACE_MS, atMs + TRACE_MS),
  });
}

export function toRange(fromMs: number, untilMs: number) {
  return { range: undefined, from: new Date(fromMs).toISOString(), until: new Date(untilMs).toISOString() };
}

/** A marked range in the address; compare-sets.ts reads it. */
export function toMark(fromMs: number, untilMs: number): string {
  return `${formatIso(fromMs)}/${formatIso(untilMs)}`;
}

/** Names under which senders write the id of a trace. */
const NAMES = ['trace_id', 'traceId', 'trace.id', 'traceID'];

/** Whether a field has the id of a trace. */
function isTraceField(field: string): boolean {
  return NAMES.some((name) => field === name || field.endsWith(`.${name}`));
}

/** The search for the events of a trace, whichever name their source gives it. */
function formatTrace(field: string, id: string): string {
  const fields = [...new Set([field.replace(/^metadata\./, ''), ...NAMES])];
  return `(${fields.map((name) => formatTerm(name, id)).join(' or ')})`;
}
