import type { FastifyReply, FastifyRequest } from 'fastify';
import { CURSOR_PARAMETER } from '../../definitions/pages.ts';
import { FORMAT_PARAMETER } from '../../definitions/parameter.ts';
import { listSavedSearches } from '../../management/definitions.ts';
import { SAVED_SEARCH, SEARCH_SOURCE } from '../../management/view.ts';
import { SEARCH_DRAFT, type SearchDraftView } from '../../management/workbench-view.ts';
import { formatNames } from '../../query/format.ts';
import { createDraftTest } from '../../search/draft/test.ts';
import { listFields } from '../../search/field.ts';
import { SEARCH_PARAMETERS } from '../../search/part.ts';
import { SEARCH, suggestNarrowing } from '../../search/search.ts';
import { EVENT_STREAM, wantsTail } from '../../serve/negotiate.ts';
import { sendTail } from '../event-stream.ts';
import {
  contentOf,
  EVENTS,
  list,
  NEXT_LINK,
  object,
  queryParameter,
  type Schema,
  textHeader,
} from '../openapi/schema.ts';
import type { AppParts } from '../parts.ts';
import {
  defineGroup,
  describeRun,
  getCaller,
  json,
  operation,
  QUERY_ERRORS,
  type RawQuery,
  rows,
} from '../route.ts';
import { HINT_HEADER, SAMPLED_HEADER, sendAnswer } from './query.ts';

// The console marks its events in charts.
const DEPLOYMENTS = 'deployments';

const ANSWER: Schema = {
  description: 'Rows; their columns depend on `part`. Or a live tail.',
  headers: {
    Link: NEXT_LINK,
    [HINT_HEADER]: textHeader('For an empty answer: why, such as fields that no source declares.'),
    [SAMPLED_HEADER]: textHeader('Share of the events that were read, 0 to 1, unless all were.'),
  },
  content: {
    ...contentOf(object({ result: list({ type: 'object' }) })),
    [EVENT_STREAM]: { schema: EVENTS },
  },
};

const SEARCH_QUERY = SEARCH_PARAMETERS.map((one) => queryParameter(one.name, one.description, one.schema));

/** Serves events by text and field, and what can be counted of them. */
export const searchRoutes = defineGroup({
  tag: 'events',
  routes: [
    operation('search', 'GET /api/search', ['query'], {
      summary: 'Search the events of any source',
      description:
        'The newest events that match, or a live tail of them; with `part`, counts and measures by ' +
        'time, the top values of a field, a summary of each field, patterns of the messages, or what ' +
        'distinguishes the events from others.',
      parameters: [
        ...SEARCH_QUERY,
        queryParameter(FORMAT_PARAMETER, 'Format of the answer. Without it the header `Accept` decides.', {
          type: 'string',
          enum: formatNames(SEARCH),
        }),
        queryParameter(CURSOR_PARAMETER, 'Continues after a page: from its `Link`.'),
      ],
      answer: { 200: ANSWER },
      errors: ['invalid_parameter', 'source_not_found', 'not_acceptable', ...QUERY_ERRORS],
      handle: runSearch,
    }),
    operation('draft_endpoint', 'GET /api/search/endpoint', ['query'], {
      summary: 'A search as the files of an endpoint',
      description:
        'A draft for the workbench, of the parts rows, histogram and values: the same numbers by SQL ' +
        'over the tables of the sources, with parameters, a chart, and a test made of the newest ' +
        'events, trimmed to what the query reads. Nothing is saved.',
      parameters: SEARCH_QUERY,
      answer: { 200: json('The files.', SEARCH_DRAFT) },
      errors: ['invalid_parameter', 'source_not_found', ...QUERY_ERRORS],
      handle: draftEndpoint,
    }),
    operation('list_searches', 'GET /api/searches', ['query'], {
      summary: 'Saved searches that the key may run',
      answer: { 200: rows('The present state.', SAVED_SEARCH) },
      call: listSavedSearches,
    }),
    operation('list_search_sources', 'GET /api/search/sources', ['query'], {
      summary: 'Sources and fields that the key may search',
      answer: { 200: rows('The present state.', SEARCH_SOURCE) },
      call: ({ findSearchable }, caller) => ({
        result: findSearchable(caller).map((source) => ({
          ...{ name: source.name, id: source.id, description: source.description },
          internal: source.isInternal === true,
          fields: listFields(source),
          links: source.links ?? [],
          marks_deploys: source.name === DEPLOYMENTS,
        })),
      }),
    }),
  ],
});

type SearchRequest = FastifyRequest<{ Querystring: RawQuery }>;

async function draftEndpoint(
  parts: AppParts,
  request: SearchRequest,
  reply: FastifyReply,
): Promise<SearchDraftView> {
  request.endpointName = SEARCH.name;
  const draft = parts.draftSearch(getCaller(request), request.query);
  const { name, definition, sql, values } = draft;
  try {
    const test = await createDraftTest(parts, draft, describeRun(request, reply));
    return { name, definition, sql, test: test ?? null, values };
  } catch (error) {
    throw suggestNarrowing(error);
  }
}

async function runSearch(
  parts: AppParts,
  request: SearchRequest,
  reply: FastifyReply,
): Promise<FastifyReply> {
  request.endpointName = SEARCH.name;
  const { query: parameters, headers } = request;
  const [caller, accepts] = [getCaller(request), request.accepts()];
  const hasTail = (parameters['part'] ?? 'rows') === 'rows';
  try {
    if (wantsTail({ accepts, endpoint: SEARCH, parameters }, hasTail)) {
      const followed = parts.resolveSearchTail({ caller, parameters, headers });
      return await sendTail(parts, followed, { request, reply });
    }
    const resolved = parts.resolveSearch({ caller, parameters, headers, accepts });
    return await sendAnswer(parts, resolved, { request, reply });
  } catch (error) {
    throw suggestNarrowing(error);
  }
}
