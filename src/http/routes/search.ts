import type { CachedQueries } from '../../cache/cached.ts';
import { CURSOR_PARAMETER } from '../../definitions/pages.ts';
import { SEARCH_SOURCE } from '../../management/view.ts';
import { FORMAT_PARAMETER, formatNames } from '../../query/format.ts';
import { listFields } from '../../search/field.ts';
import { SEARCH_PARAMETERS } from '../../search/parameters.ts';
import { SEARCH } from '../../search/search.ts';
import type { Describe } from '../../serve/describe.ts';
import type { SearchSteps } from '../../serve/resolve-search.ts';
import type { Metrics } from '../../telemetry/metrics.ts';
import { list, object, type Schema } from '../openapi/schema.ts';
import { getCaller } from '../plugins/auth.ts';
import { defineRoute, json, type RouteGroup, textParameter } from '../route.ts';
import { describeRun, HINT_HEADER, sendAnswer } from './query.ts';

export interface SearchParts extends SearchSteps {
  readonly cached: CachedQueries;
  readonly describe: Describe;
  readonly metrics: Metrics;
}

const text = (description: string): Schema => ({ schema: { type: 'string' }, description });

const ANSWER: Schema = {
  description: 'Rows. Their columns depend on `part`; other formats than JSON have the same.',
  headers: {
    Link: text('`rel="next"`: the next page, if there may be one.'),
    [HINT_HEADER]: text('For an empty answer: fields that no source declares.'),
  },
  content: { 'application/json': { schema: object({ result: list({ type: 'object' }) }) } },
};

/** Events by text and field, their counts over time, and the values of a field. */
export const searchRoutes: RouteGroup<SearchParts> = {
  routes: [
    defineRoute({
      method: 'GET',
      path: '/api/search',
      scopes: ['query'],
      summary: 'Search the events of any source',
      operation: {
        id: 'search',
        tag: 'events',
        description:
          'The newest events that match; with `part`, counts by time, or the top values of a field.',
      },
      parameters: [
        ...SEARCH_PARAMETERS.map(({ name, description, schema }) => ({
          ...{ name, in: 'query', required: false, description, schema },
        })),
        {
          ...textParameter(
            'query',
            FORMAT_PARAMETER,
            'Format of the answer. Without it the header `Accept` decides.',
          ),
          schema: { type: 'string', enum: formatNames(SEARCH) },
        },
        textParameter('query', CURSOR_PARAMETER, 'Continues after a page: from its `Link`.'),
      ],
      answer: { 200: ANSWER },
      errors: ['source_not_found', 'not_acceptable', 'query_failed', 'overloaded', 'query_timeout'],
      async handle(parts: SearchParts, request, reply) {
        request.endpointName = SEARCH.name;
        const resolved = parts.resolveSearch({
          caller: getCaller(request),
          parameters: request.query,
          headers: request.headers,
          accepts: request.accepts(),
        });
        return sendAnswer(parts, { ...resolved, how: describeRun(request, reply) }, { request, reply });
      },
    }),
    defineRoute({
      method: 'GET',
      path: '/api/search/sources',
      scopes: ['query'],
      summary: 'Sources and fields that the key may search',
      operation: { id: 'list_search_sources', tag: 'events' },
      answer: { 200: json('As they are now.', object({ result: list(SEARCH_SOURCE) })) },
      handle: async ({ findSearchable }: SearchParts, request) => ({
        result: findSearchable(getCaller(request)).map((source) => ({
          ...{ name: source.name, id: source.id, description: source.description },
          fields: listFields(source),
        })),
      }),
    }),
  ],
};
