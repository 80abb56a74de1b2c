import { setTimeout as delay } from 'node:timers/promises';
import { type Static, Type } from 'typebox';
import type { Registry } from '../definitions/registry.ts';
import { invalidRequest, TailraceError } from '../errors.ts';
import { actorOf } from '../keys/audit.ts';
import type { Caller } from '../keys/keyring.ts';
import { formatInstant, isoTime } from '../lib/instant.ts';
import { closed, optional } from '../lib/schema.ts';
import { type Deletion, parseDeletion } from '../maintenance/deletion-request.ts';
import type { DeletionJob, Deletions, SourceRows } from '../maintenance/deletions.ts';
import type { DeletionView } from './view.ts';

export interface DeletionParts {
  readonly deletions: Deletions;
  readonly registry: Registry;
}

export const NEW_DELETION = closed({
  project: Type.String({ expected: 'a string; empty for events that belong to no project' }),
  ...optional({
    source: Type.String({ minLength: 1, expected: 'the name or UUID of a source' }),
    before: Type.String({ expected: 'an ISO 8601 timestamp' }),
    dry_run: Type.Boolean(),
  }),
});

// Far below the time after which an idle connection is closed.
const WAIT_MS = 10_000;

/**
 * Deletes the events of a project for good, and waits at most 10 s for it; a dry run only counts them.
 * @throws TailraceError `invalid_request` with every fault, as `Deletions.start`
 */
export async function startDeletion(
  { deletions, registry }: DeletionParts,
  caller: Caller,
  { dry_run: isDryRun = false, ...request }: Static<typeof NEW_DELETION>,
): Promise<DeletionView> {
  const deletion = parseDeletion(registry, request);
  if (Array.isArray(deletion)) throw invalidRequest(deletion);
  if (isDryRun) return toPlanView(deletion, await deletions.count(deletion));
  const job = await deletions.start(deletion, actorOf(caller));
  await Promise.race([job.done, delay(WAIT_MS, undefined, { ref: false })]);
  return toDeletionView(job);
}

/** Finds a deletion that this process has started. @throws TailraceError `not_found` */
export function readDeletion({ deletions }: DeletionParts, id: string): DeletionView {
  const job = deletions.find(id);
  if (job !== undefined) return toDeletionView(job);
  const fault = `this process has started no deletion of the id ${JSON.stringify(id.slice(0, 100))}`;
  throw new TailraceError('not_found', `${fault}; the audit trail lists all of them`);
}

function toDeletionView({ id, state, deletion, acceptedMs, counted, ...job }: DeletionJob): DeletionView {
  const { progress, error = null } = job;
  return {
    ...toPlanView(deletion, counted),
    id,
    state,
    accepted_at: isoTime(acceptedMs),
    progress: progress === undefined ? null : { source: progress.source, parts_left: progress.partsLeft },
    error,
  };
}

function toPlanView({ project, before }: Deletion, counted: readonly SourceRows[]): DeletionView {
  return {
    id: null,
    state: 'planned',
    accepted_at: null,
    project,
    before: before === undefined ? null : `${formatInstant(before).replace(' ', 'T')}Z`,
    rows: counted.reduce((sum, { rows }) => sum + rows, 0),
    sources: counted.filter(({ rows }) => rows > 0).map(({ source, rows }) => ({ source, rows })),
    left_out: counted.flatMap(({ source, kept = 0 }) => (kept > 0 ? [{ source, rows: kept }] : [])),
    progress: null,
    error: null,
  };
}
