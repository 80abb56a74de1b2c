import { Type } from 'typebox';
import { describeMe, endSession, listSessions, type SessionParts } from '../../management/sessions.ts';
import { ME, SESSION } from '../../management/view.ts';
import { list, object } from '../openapi/schema.ts';
import { getCaller } from '../plugins/auth.ts';
import { defineRoute, json, type RouteGroup } from '../route.ts';

const SESSIONS_QUERY = Type.Object({
  of: Type.Enum(['me', 'all'], {
    type: 'string',
    default: 'me',
    description: '`all`: those of everyone, for callers with the scope `manage` and no other limits.',
    expected: 'me or all',
  }),
});

/** The sender of a request, and sessions of the console: src/management/sessions.ts. */
export const sessionRoutes: RouteGroup<SessionParts> = {
  routes: [
    defineRoute({
      method: 'GET',
      path: '/api/me',
      scopes: 'any',
      summary: 'The person or key of the request, with its rights',
      operation: { id: 'get_me', tag: 'console' },
      answer: { 200: json('The present state.', ME) },
      handle: async ({ version }: SessionParts, request) => describeMe(getCaller(request), version),
    }),
    defineRoute({
      method: 'GET',
      path: '/api/sessions',
      scopes: 'any',
      summary: 'The newest 1,000 sessions of the console, newest first',
      operation: { id: 'list_sessions', tag: 'console' },
      query: SESSIONS_QUERY,
      answer: { 200: json('Sessions.', object({ result: list(SESSION) })) },
      handle: async (parts: SessionParts, request) => ({
        result: await listSessions(parts, getCaller(request), request.query.of === 'all'),
      }),
    }),
    defineRoute({
      method: 'DELETE',
      path: '/api/sessions/:id',
      scopes: 'any',
      summary: 'End a session',
      operation: { id: 'end_session', tag: 'console' },
      answer: { 204: { description: 'Ended.' } },
      errors: ['not_found'],
      async handle(parts: SessionParts, request, reply) {
        await endSession(parts, getCaller(request), request.params.id);
        return reply.send();
      },
    }),
  ],
};
