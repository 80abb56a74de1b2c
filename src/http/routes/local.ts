import type { FastifyReply } from 'fastify';
import { Type } from 'typebox';
import { TailraceError } from '../../errors.ts';
import { type Caller, LOCAL_KEY_ID } from '../../keys/keyring.ts';
import { type BackupState, readBackup, startBackup } from '../../maintenance/backup.ts';
import { NEW_DELETION, readDeletion, startDeletion } from '../../management/deletions.ts';
import { requireUnrestricted } from '../../management/keys.ts';
import { DELETION, type DeletionView } from '../../management/view.ts';
import { defineGroup, defineRoute, describeRun, getCaller, json, jsonBody, operation } from '../route.ts';

const NO_BODY = jsonBody(Type.Object({}), { example: {} });
const NEW_BACKUP = Type.Object({ dir: Type.String(), base: Type.Optional(Type.String()) });

/** The commands of the shell on this machine, whose key only they have: cli/local-service.ts. */
export const localRoutes = defineGroup({
  checkCaller: requireLocal,
  routes: [
    defineRoute('POST /api/local/reload', ['manage'], {
      ...{ summary: 'tailrace reload', body: NO_BODY },
      call: ({ actions }) => actions?.reload(),
    }),
    defineRoute('POST /api/local/stop', ['manage'], {
      ...{ summary: 'tailrace stop', body: NO_BODY },
      call({ actions }) {
        setImmediate(() => actions?.stop()); // once the response is sent
        return { pid: process.pid };
      },
    }),
    defineRoute('POST /api/local/backups', ['manage'], {
      ...{ summary: 'tailrace backup', body: jsonBody(NEW_BACKUP, { example: {} }) },
      async handle({ engine }, request, reply) {
        request.socket.setTimeout(0); // a deletion takes longer than an idle connection lives
        const { dir, base } = request.body;
        return { id: await startBackup(engine, { dir, base, signal: describeRun(request, reply).signal }) };
      },
    }),
    defineRoute('GET /api/local/backups/:id', ['manage'], {
      summary: 'Progress of a backup',
      call: ({ engine }, _caller, { id }): Promise<BackupState> => readBackup(engine, id),
    }),
  ],
});

/** @throws TailraceError `forbidden` */
function requireLocal({ keyId }: Caller): void {
  if (keyId === LOCAL_KEY_ID) return;
  throw new TailraceError('forbidden', 'only commands on the machine of the service may call this');
}

/** Deletes the events of a project for good, for keys with the scope `manage` that are not limited otherwise. */
export const deletionRoutes = defineGroup({
  tag: 'events',
  bodyBytesMax: 64 * 1024,
  routes: [
    operation('delete_events', 'POST /api/deletions', ['manage'], {
      summary: 'Delete events for good',
      body: jsonBody(NEW_DELETION, {
        example: { project: 'aurora', before: '2026-11-20T07:00:00Z', dry_run: true },
      }),
      answer: {
        200: json('Deleted; for a dry run, the events that would be.', DELETION),
        202: json('Still being deleted.', DELETION),
      },
      errors: ['overloaded'],
      checkCaller: (caller) => requireUnrestricted(caller, 'delete events'),
      handle: async (parts, request, reply) =>
        send(reply, await startDeletion(parts, getCaller(request), request.body)),
    }),
    operation('get_deletion', 'GET /api/deletions/:id', ['manage'], {
      summary: 'Progress of a deletion',
      answer: { 200: json('Ended.', DELETION), 202: json('Still being deleted.', DELETION) },
      checkCaller: (caller) => requireUnrestricted(caller, 'see what was deleted'),
      handle: (parts, request, reply) => send(reply, readDeletion(parts, request.params.id)),
    }),
  ],
});

function send(reply: FastifyReply, deletion: DeletionView): FastifyReply {
  return reply.code(deletion.state === 'running' ? 202 : 200).send(deletion);
}
