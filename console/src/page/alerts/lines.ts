import type { AlertView } from '../../../../src/management/alert-view.ts';
import type { EndpointView } from '../../../../src/management/view.ts';
import { linesPath } from '../endpoint/lines.ts';

type Asked = Pick<AlertView, 'parameters' | 'when' | 'since'>;

const HOUR_SECONDS = 3600;

/** The alert's parameters as the form of its endpoint has them. */
export function valuesOf({ parameters }: Pick<AlertView, 'parameters'>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(parameters).map(([name, value]) => [
      name,
      typeof value === 'string' ? value : value.join(','),
    ]),
  );
}

/** The search of the column that the condition compares. */
export function searchOf({ when }: Asked, { columns }: Pick<EndpointView, 'columns'>): string | undefined {
  return columns.find(({ name }) => name === when?.column)?.search ?? undefined;
}

/** The path of Explore with the lines that the condition is about: from an hour before it began to hold, or the last hour. */
export function alertLinesPath(alert: Asked, endpoint: EndpointView, nowMs: number): string | undefined {
  const sinceMs = alert.since === null ? nowMs : Date.parse(alert.since);
  const span = { from: Math.floor(sinceMs / 1000) - HOUR_SECONDS, until: Math.ceil(nowMs / 1000) };
  return linesPath(endpoint, valuesOf(alert), { span, search: searchOf(alert, endpoint) });
}

/** The path of the endpoint's page with the alert's parameters. */
export function endpointPath({ endpoint, parameters }: Pick<AlertView, 'endpoint' | 'parameters'>): string {
  const query = new URLSearchParams(valuesOf({ parameters })).toString();
  const path = `/endpoints/${encodeURIComponent(endpoint)}`;
  return query === '' ? path : `${path}?${query}`;
}
