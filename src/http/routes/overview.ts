import { listRejectedEvents, listRejectedRequests, readOverview } from '../../management/admin.ts';
import { OVERVIEW, REJECTED_EVENTS, REJECTED_REQUESTS } from '../../management/admin-view.ts';
import { defineGroup, json, operation } from '../route.ts';

/**
 * Serves what an operator looks after, for keys with the scope `manage`: the numbers count the requests of all keys, and
 * the events of all projects. Limited keys see only what belongs to their projects, sources and keys.
 */
export const overviewRoutes = defineGroup({
  tag: 'console',
  routes: [
    operation('get_overview', 'GET /api/overview', ['manage'], {
      summary: 'Live numbers of endpoints, sources, engine and store',
      answer: { 200: json('The present state.', OVERVIEW) },
      call: readOverview,
    }),
    operation('list_rejected_requests', 'GET /api/rejected-requests', ['manage'], {
      summary: 'Requests that were rejected since the start, with their addresses',
      answer: { 200: json('At most 200 kinds of each code.', REJECTED_REQUESTS) },
      call: listRejectedRequests,
    }),
    operation('list_rejected_events', 'GET /api/rejected-events', ['manage'], {
      summary: 'Events that were rejected since the start, with samples',
      answer: { 200: json('At most 500 kinds.', REJECTED_EVENTS) },
      call: listRejectedEvents,
    }),
  ],
});
