import type { EndpointView } from '../../../../src/management/view.ts';
import { formatTerm, joinSearches } from '../../format/search-text.ts';
import { type Span, toIso } from '../../format/time-axis.ts';
import { explorePath } from '../explore/address.ts';

type Called = Pick<EndpointView, 'sources' | 'parameters'>;

/**
 * The path of Explore with the lines behind a range of an answer: of its sources and project, with the fields that its parameters
 * fill. Undefined if the key may search none of them.
 *
 * @param search of one series
 */
export function linesPath(
  { sources, parameters }: Called,
  values: Readonly<Record<string, string>>,
  { span, search = '' }: { readonly span: Span; readonly search?: string | undefined },
): string | undefined {
  if (sources.length === 0) return undefined;
  const terms = parameters.flatMap(({ name, type, search: field, pinned, default: fallback }) => {
    const value = pinned ?? (values[name] || fallback);
    return field === null || value === ''
      ? []
      : [toTerm(field, type === 'list' ? value.split(',') : [value])];
  });
  return explorePath({
    q: joinSearches([...terms, search]),
    source: [...sources],
    project: findProject(parameters, values),
    range: undefined,
    from: toIso(span.from),
    until: toIso(span.until),
  });
}

function toTerm(field: string, values: readonly string[]): string {
  return values.map((value) => formatTerm(field, value.trim())).join(' or ');
}

/** The value of `project`; none if it is a pattern that may match several. */
function findProject(parameters: Called['parameters'], values: Readonly<Record<string, string>>): string {
  const { name, type, pinned } = parameters.find((one) => one.name === 'project') ?? {};
  const value = pinned ?? values[name ?? ''] ?? '';
  return type === 'regex' && pinned === null && !/^[\w-]+$/.test(value) ? '' : value;
}
