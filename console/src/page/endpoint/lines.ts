import type { EndpointView } from '../../../../src/management/view.ts';
import { type Span, toIso } from '../../format/range.ts';
import { formatTerm, joinSearches } from '../../format/search-text.ts';
import { ownMember, type Values, withQuery } from '../../format/values.ts';
import type { LineLinks } from '../../ui/chart/linked-charts.tsx';
import { explorePath } from '../explore/address.ts';

type Called = Pick<EndpointView, 'sources' | 'parameters'>;

/** The path of Explore with the lines behind an answer. @param span undefined: the newest @param search of one series */
export function linesPath(
  { sources, parameters }: Called,
  values: Values,
  { span, search = '' }: { readonly span: Span | undefined; readonly search?: string | undefined },
): string | undefined {
  if (whyNoLines({ sources, parameters }, values) !== undefined) return undefined;
  const terms = parameters.flatMap(({ name, type, search: field, pinned, default: fallback }) => {
    const value = pinned ?? (ownMember(values, name) || fallback);
    if (field === null || value === '') return [];
    const all = type === 'list' ? value.split(',') : [value];
    return all.map((one) => formatTerm(field, one.trim())).join(' or ');
  });
  return explorePath({
    q: joinSearches([...terms, search]),
    source: [...sources],
    project: findProject(parameters, values),
    ...(span !== undefined && {
      range: { kind: 'absolute', from: toIso(span.from), until: toIso(span.until) },
    }),
  });
}

export function lineLinks(endpoint: Called, values: Values): LineLinks {
  return {
    linesOf: (span, search) => linesPath(endpoint, values, { span, search }),
    noLines: whyNoLines(endpoint, values),
  };
}

function whyNoLines({ sources, parameters }: Called, values: Values): string | undefined {
  if (sources.length === 0) return 'This key may not search its lines.';
  const { type, pinned } = parameters.find(({ name }) => name === 'project') ?? {};
  const isPattern = type === 'regex' && pinned === null && !/^[\w-]+$/.test(findProject(parameters, values));
  return isPattern ? 'Lines are searched in one project: name it instead of a pattern.' : undefined;
}

function findProject(parameters: Called['parameters'], values: Values): string {
  return parameters.find(({ name }) => name === 'project')?.pinned ?? values['project'] ?? '';
}

export function queryPath(name: string, values: Values): string {
  return withQuery(`/api/endpoints/query/${encodeURIComponent(name)}`, values);
}
