import { setTimeout as delay } from 'node:timers/promises';
import { type Static, Type } from 'typebox';
import type { Registry } from '../definitions/registry.ts';
import { isManaged, type Source } from '../definitions/source.ts';
import { invalidRequest, type ParameterFault, TailraceError } from '../errors.ts';
import { actorOf } from '../keys/audit.ts';
import type { Caller } from '../keys/keyring.ts';
import { formatInstant, isoTime, parseInstant } from '../lib/instant.ts';
import { closed, optional } from '../lib/schema.ts';
import type { Deletion, DeletionJob, Deletions, SourceRows } from '../maintenance/deletions.ts';
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
  if (isDryRun) return toPlanView(deletion, await deletions.count(deletion));
  const job = await deletions.start(deletion, actorOf(caller));
  await Promise.race([job.done, delay(WAIT_MS, undefined, { ref: false })]);
  return toDeletionView(job);
}

/**
 * Checks a request against the definitions.
 *
 * @param request without `source`: in every source; without `before`: events of any time
 * @throws TailraceError `invalid_request` with every fault
 */
export function parseDeletion(
  registry: Registry,
  { project, ...request }: Omit<Static<typeof NEW_DELETION>, 'dry_run'>,
): Deletion {
  const faults: ParameterFault[] = [];
  const named = request.source === undefined ? undefined : registry.findSource(request.source);
  const message = request.source === undefined ? undefined : describeFault(registry, request.source, named);
  if (message !== undefined) faults.push({ parameter: 'source', message });
  const before = request.before === undefined ? undefined : parseInstant(request.before);
  if (request.before !== undefined && before === undefined)
    faults.push({
      parameter: 'before',
      message:
        'must be an ISO 8601 timestamp such as 2026-11-20T07:00:00Z; it is ' +
        `${JSON.stringify(request.before.slice(0, 100))}`,
    });
  if (faults.length > 0) throw invalidRequest(faults);
  if (named !== undefined) return { project, sources: [named], isOfAll: false, leftOut: [], before };
  const managed = registry.sources.filter(isManaged);
  const { leftOut = [], sources = [] } = Object.groupBy(managed, ({ isProtected }) =>
    isProtected === true ? 'leftOut' : 'sources',
  );
  return { project, sources, isOfAll: true, leftOut, before };
}

/** Describes why no event of a source can be deleted; `undefined` if they can. */
function describeFault({ sources }: Registry, name: string, source: Source | undefined): string | undefined {
  if (source === undefined) {
    const known = sources.map((one) => one.name).join(', ');
    return `is not a source: ${JSON.stringify(name.slice(0, 100))}; there are ${known}`;
  }
  if (!isManaged(source))
    return (
      `must be a source that stores events: ${source.name} reads an existing table (managed: ` +
      'false), which Tailrace never changes'
    );
  if (source.isProtected !== true) return undefined;
  return (
    `must be a source whose events can be deleted: ${source.name} is protected (protected: true); ` +
    `Tailrace deletes its events when they are older than ${source.retentionDays} days`
  );
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
