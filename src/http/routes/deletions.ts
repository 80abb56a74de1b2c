import type { FastifyReply } from 'fastify';
import { type DeletionParts, NEW_DELETION, readDeletion, startDeletion } from '../../management/deletions.ts';
import { requireUnrestricted } from '../../management/keys.ts';
import { DELETION, type DeletionView } from '../../management/view.ts';
import { getCaller } from '../plugins/auth.ts';
import { defineRoute, json, jsonBody, type RouteGroup } from '../route.ts';

/** Deletes the events of a project for good, for keys with the scope `manage` that are not limited otherwise. */
export const deletionRoutes: RouteGroup<DeletionParts> = {
  bodyBytesMax: 64 * 1024,
  routes: [
    defineRoute({
      method: 'POST',
      path: '/api/deletions',
      scopes: ['manage'],
      summary: 'Delete events for good',
      operation: { id: 'delete_events', tag: 'events' },
      body: jsonBody(NEW_DELETION, {
        example: { project: 'aurora', before: '2026-11-20T07:00:00Z', dry_run: true },
      }),
      answer: {
        200: json('Deleted; for a dry run, the events that would be.', DELETION),
        202: json('Still being deleted.', DELETION),
      },
      errors: ['overloaded'],
      refuse: (caller) => requireUnrestricted(caller, 'delete events'),
      handle: async (parts: DeletionParts, request, reply) =>
        send(reply, await startDeletion(parts, getCaller(request), request.body)),
    }),
    defineRoute({
      method: 'GET',
      path: '/api/deletions/:id',
      scopes: ['manage'],
      summary: 'Progress of a deletion',
      operation: { id: 'get_deletion', tag: 'events' },
      answer: { 200: json('Ended.', DELETION), 202: json('Still being deleted.', DELETION) },
      errors: ['not_found'],
      refuse: (caller) => requireUnrestricted(caller, 'see what was deleted'),
      handle: (parts: DeletionParts, request, reply) => send(reply, readDeletion(parts, request.params.id)),
    }),
  ],
};

function send(reply: FastifyReply, deletion: DeletionView): FastifyReply {
  return reply.code(deletion.state === 'running' ? 202 : 200).send(deletion);
}
