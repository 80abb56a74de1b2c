import { Type } from 'typebox';
import {
  listRejectedEvents,
  listRejectedRequests,
  type RejectionParts,
  readUsage,
  type UsageParts,
} from '../../management/admin.ts';
import {
  REJECTED_EVENTS,
  REJECTED_REQUESTS,
  RETENTION,
  USAGE,
  USAGE_BY,
} from '../../management/admin-view.ts';
import { type RetentionParts, readRetention } from '../../management/retention.ts';
import { getCaller } from '../plugins/auth.ts';
import { defineRoute, json, type RouteGroup } from '../route.ts';

export type AdminParts = RejectionParts & RetentionParts & UsageParts;

const DAYS_MAX = 400;
const USAGE_QUERY = Type.Object({
  by: Type.Enum([...USAGE_BY], {
    type: 'string',
    default: 'project',
    description: 'What is counted.',
    expected: `one of ${USAGE_BY.join(', ')}`,
  }),
  days: Type.Integer({
    minimum: 1,
    maximum: DAYS_MAX,
    default: 30,
    description: 'Days, UTC, the present one included.',
    expected: `a whole number from 1 to ${DAYS_MAX}`,
  }),
});

const common = { method: 'GET', scopes: ['manage'] } as const;

/** Serves what an operator looks after. Limited keys see only what belongs to their projects, sources and keys. */
export const adminRoutes: RouteGroup<AdminParts> = {
  routes: [
    defineRoute({
      ...common,
      path: '/api/usage',
      summary: 'What was stored and requested, by project, key or source',
      operation: {
        id: 'get_usage',
        tag: 'console',
        description: 'Events and bytes are written once a minute. Replicas count requests each for itself.',
      },
      query: USAGE_QUERY,
      answer: { 200: json('Amounts.', USAGE) },
      errors: ['overloaded', 'query_timeout'],
      handle: (parts: AdminParts, request) => readUsage(parts, getCaller(request), request.query),
    }),
    defineRoute({
      ...common,
      path: '/api/rejected-requests',
      summary: 'Requests that were rejected since the start, with their addresses',
      operation: { id: 'list_rejected_requests', tag: 'console' },
      answer: { 200: json('At most 200 kinds of each code.', REJECTED_REQUESTS) },
      handle: (parts: AdminParts, request) => listRejectedRequests(parts, getCaller(request)),
    }),
    defineRoute({
      ...common,
      path: '/api/rejected-events',
      summary: 'Events that were rejected since the start, with samples',
      operation: { id: 'list_rejected_events', tag: 'console' },
      answer: { 200: json('At most 500 kinds.', REJECTED_EVENTS) },
      handle: (parts: AdminParts, request) => listRejectedEvents(parts, getCaller(request)),
    }),
    defineRoute({
      ...common,
      path: '/api/retention',
      summary: 'What retention deletes next, and what waits for an operator',
      operation: { id: 'get_retention', tag: 'console' },
      answer: { 200: json('The present state.', RETENTION) },
      errors: ['overloaded'],
      handle: (parts: AdminParts, request) => readRetention(parts, getCaller(request)),
    }),
  ],
};
