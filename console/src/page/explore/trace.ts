import { formatTerm } from '../../format/search-text.ts';

/** Names under which senders write the id of a trace. */
const NAMES = ['trace_id', 'traceId', 'trace.id', 'traceID'];

/** Whether a field has the id of a trace. */
export function isTraceField(field: string): boolean {
  return NAMES.some((name) => field === name || field.endsWith(`.${name}`));
}

/** The search for the events of a trace, whichever name their source gives it. */
export function formatTrace(field: string, id: string): string {
  const fields = [...new Set([field.replace(/^metadata\./, ''), ...NAMES])];
  return `(${fields.map((name) => formatTerm(name, id)).join(' or ')})`;
}
