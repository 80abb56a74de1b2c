import { HISTORY, HISTORY_VERSION } from '../../management/view.ts';
import { type HistoryParts, listHistory, readHistory } from '../../workbench/history.ts';
import { requireAuthor } from '../../workbench/workbench.ts';
import { defineRoute, json, type RouteGroup } from '../route.ts';

const common = {
  scopes: ['manage'],
  refuse: requireAuthor,
  errors: ['not_found', 'endpoint_not_found'],
} as const;

/** Serves earlier versions of definitions to the console. */
export const workbenchHistoryRoutes: RouteGroup<HistoryParts> = {
  routes: [
    defineRoute({
      ...common,
      method: 'GET',
      path: '/api/workbench/history/:kind/:name',
      summary: 'The kept versions of an endpoint, alert or dashboard',
      operation: {
        id: 'list_history',
        tag: 'console',
        description: '`kind` is `endpoints`, `alerts` or `dashboards`. Saves of this process, newest first.',
      },
      answer: { 200: json('Without saves the list is empty.', HISTORY) },
      handle: (parts: HistoryParts, request) => listHistory(parts, request.params),
    }),
    defineRoute({
      ...common,
      method: 'GET',
      path: '/api/workbench/history/:kind/:name/:id',
      summary: 'The texts of a kept version',
      operation: { id: 'get_history_version', tag: 'console' },
      answer: { 200: json('As it was saved.', HISTORY_VERSION) },
      handle: (parts: HistoryParts, request) => readHistory(parts, request.params),
    }),
  ],
};
