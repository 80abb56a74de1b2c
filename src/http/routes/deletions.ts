import type { FastifyInstance, FastifyReply } from 'fastify';
import { Type } from 'typebox';
import { TailraceError } from '../../errors.ts';
import { formatInstant } from '../../lib/instant.ts';
import type { DeletionJob, SourceRows } from '../../maintenance/deletion/deletions.ts';
import { type Deletion, parseDeletion } from '../../maintenance/deletion/request.ts';
import type { HttpContext } from '../context.ts';
import { createAuth, getCaller } from '../plugins/auth.ts';
import { createBodyParser, invalidBody } from '../plugins/json-body.ts';
import type { DeletionView } from '../view.ts';
import { requireUnrestricted } from './key-log.ts';

export const DELETIONS_PATH = '/api/deletions';
export const DELETION_PATH = `${DELETIONS_PATH}/:id`;

const BODY_BYTES_MAX = 64 * 1024;
// Far below the time after which a connection on which nothing moves is closed.
const ANSWER_WAIT_MS = 10_000;

export const NEW_DELETION = Type.Object(
  {
    project: Type.String({ expected: 'a text; empty for events that belong to no project' }),
    source: Type.Optional(Type.String({ minLength: 1, expected: 'the name or UUID of a source' })),
    before: Type.Optional(Type.String({ expected: 'an ISO 8601 timestamp' })),
    dry_run: Type.Optional(Type.Boolean({ expected: 'true or false' })),
  },
  { additionalProperties: false, expected: 'an object' },
);

const parseNew = createBodyParser(NEW_DELETION);

/** Deletes the events of a project for good, for keys with the scope `manage` that nothing else limits. */
export function deletionRoutes(app: FastifyInstance, { keyring, registry, deletions }: HttpContext): void {
  const options = { onRequest: createAuth(keyring, 'manage'), bodyLimit: BODY_BYTES_MAX };

  app.post(DELETIONS_PATH, options, async (request, reply) => {
    const caller = getCaller(request);
    requireUnrestricted(caller, 'delete events');
    const { dry_run: isDryRun = false, ...asked } = parseNew(request.body);
    const deletion = parseDeletion(registry, asked);
    if (Array.isArray(deletion)) throw invalidBody(deletion);
    if (isDryRun) return toPlanView(deletion, await deletions.count(deletion));
    const job = await deletions.start(deletion, caller.keyId);
    await endOrTime(job);
    return send(reply, job);
  });

  app.get<{ Params: { id: string } }>(DELETION_PATH, options, async (request, reply) => {
    requireUnrestricted(getCaller(request), 'see what was deleted');
    const { id } = request.params;
    const job = deletions.find(id);
    if (job !== undefined) return send(reply, job);
    const message = `this process has begun no deletion of the id ${JSON.stringify(id.slice(0, 100))}; the audit trail lists all of them`;
    throw new TailraceError('not_found', message);
  });
}

async function endOrTime(job: DeletionJob): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, ANSWER_WAIT_MS);
  });
  await Promise.race([job.done, late]).finally(() => clearTimeout(timer));
}

/** 202: it goes on, and `GET` says how far it is. */
function send(reply: FastifyReply, { id, state, deletion, counted, progress }: DeletionJob): FastifyReply {
  const view: DeletionView = {
    ...toPlanView(deletion, counted),
    id,
    state,
    progress: progress === undefined ? null : { source: progress.source, parts_left: progress.partsLeft },
  };
  return reply.code(state === 'running' ? 202 : 200).send(view);
}

function toPlanView({ project, before }: Deletion, counted: readonly SourceRows[]): DeletionView {
  return {
    id: null,
    state: 'planned',
    project,
    before: before === undefined ? null : `${formatInstant(before).replace(' ', 'T')}Z`,
    rows: counted.reduce((sum, { rows }) => sum + rows, 0),
    sources: counted.filter(({ rows }) => rows > 0).map(({ source, rows }) => ({ source, rows })),
    progress: null,
  };
}
