import {
  listSearches,
  NEW_SEARCH,
  removeSearch,
  requireKeyOfSearches,
  type SavedSearchParts,
  saveSearch,
} from '../../management/saved-searches.ts';
import { SAVED_SEARCH } from '../../management/view.ts';
import { list, object } from '../openapi/schema.ts';
import { getCaller } from '../plugins/auth.ts';
import { defineRoute, json, jsonBody, type RouteGroup } from '../route.ts';

/** Saved searches of the caller: src/management/saved-searches.ts. */
export const savedSearchRoutes: RouteGroup<SavedSearchParts> = {
  bodyBytesMax: 64 * 1024, // far above a name and an address, however they are escaped
  routes: [
    defineRoute({
      method: 'GET',
      path: '/api/searches',
      scopes: ['query'],
      summary: 'Saved searches of the caller, and those shared with it, by name',
      operation: { id: 'list_searches', tag: 'console' },
      answer: { 200: json('The present state.', object({ result: list(SAVED_SEARCH) })) },
      refuse: requireKeyOfSearches,
      handle: async (parts: SavedSearchParts, request) => ({
        result: await listSearches(parts, getCaller(request)),
      }),
    }),
    defineRoute({
      method: 'POST',
      path: '/api/searches',
      scopes: ['query'],
      summary: 'Save a search; it replaces one with the same name',
      operation: { id: 'save_search', tag: 'console' },
      body: jsonBody(NEW_SEARCH, { example: { name: 'slow requests', address: 'q=level%3Aerror&range=6h' } }),
      answer: {
        201: json('The new search.', SAVED_SEARCH),
        200: json('The search, which replaces one of the same name.', SAVED_SEARCH),
      },
      refuse: requireKeyOfSearches,
      async handle(parts: SavedSearchParts, request, reply) {
        const { view, isNew } = await saveSearch(parts, getCaller(request), request.body);
        reply.code(isNew ? 201 : 200);
        return view;
      },
    }),
    defineRoute({
      method: 'DELETE',
      path: '/api/searches/:id',
      scopes: ['query'],
      summary: 'Delete a saved search',
      operation: { id: 'delete_search', tag: 'console' },
      answer: { 204: { description: 'Deleted.' } },
      errors: ['not_found'],
      refuse: requireKeyOfSearches,
      async handle(parts: SavedSearchParts, request, reply) {
        await removeSearch(parts, getCaller(request), request.params.id);
        return reply.send();
      },
    }),
  ],
};
