import type { Registry } from '../definitions/registry.ts';
import { isManaged, type Source } from '../definitions/source.ts';
import { formatInstant, type Micros, parseInstant } from '../lib/instant.ts';
import { type Sql, sql } from '../sql/sql.ts';

/** A request to delete events, as a caller sends it. */
export interface DeletionRequest {
  /** Empty: events without a project. */
  readonly project: string;
  /** Name or UUID; `undefined`: every source. */
  readonly source?: string | undefined;
  /** ISO 8601; `undefined`: events of any time. */
  readonly before?: string | undefined;
}

/** A checked `DeletionRequest`. */
export interface Deletion {
  readonly project: string;
  readonly sources: readonly Source[];
  /** Whether it names no source: then it deletes in every one that is there. */
  readonly isOfAll: boolean;
  /** Protected sources, which a deletion in every source leaves out. */
  readonly leftOut: readonly Source[];
  /** Only events whose timestamp is earlier. */
  readonly before: Micros | undefined;
}

/** One wrong member of a request. */
export interface DeletionFault {
  readonly parameter: keyof DeletionRequest;
  readonly message: string;
}

/** Checks a request against the definitions. */
export function parseDeletion(registry: Registry, request: DeletionRequest): Deletion | DeletionFault[] {
  const faults: DeletionFault[] = [];
  const named = request.source === undefined ? undefined : registry.findSource(request.source);
  if (request.source !== undefined && named === undefined) {
    const known = registry.sources.map(({ name }) => name).join(', ');
    faults.push({
      parameter: 'source',
      message: `is not a source: ${JSON.stringify(request.source.slice(0, 100))}; there are ${known}`,
    });
  }
  if (named !== undefined && !isManaged(named))
    faults.push({
      parameter: 'source',
      message:
        `must be a source that stores events: ${named.name} reads an existing table (managed: ` +
        'false), which Tailrace never changes',
    });
  if (named?.isProtected === true)
    faults.push({
      parameter: 'source',
      message:
        `must be a source whose events can be deleted: ${named.name} is protected (protected: true); ` +
        `Tailrace deletes its events when they are older than ${named.retentionDays} days`,
    });
  const before = request.before === undefined ? undefined : parseInstant(request.before);
  if (request.before !== undefined && before === undefined)
    faults.push({
      parameter: 'before',
      message:
        'must be an ISO 8601 timestamp such as 2026-11-20T07:00:00Z; it is ' +
        `${JSON.stringify(request.before.slice(0, 100))}`,
    });
  if (faults.length > 0) return faults;
  const { project } = request;
  if (named !== undefined) return { project, sources: [named], isOfAll: false, leftOut: [], before };
  const managed = registry.sources.filter(isManaged);
  const leftOut = managed.filter(({ isProtected }) => isProtected === true);
  const sources = managed.filter((source) => !leftOut.includes(source));
  return { project, sources, isOfAll: true, leftOut, before };
}

/** Returns the SQL condition of a deletion, on the columns of every event. */
export function toCondition({ project, before }: Deletion): Sql {
  const ofProject = sql`project = ${project}`;
  if (before === undefined) return ofProject;
  return sql`${ofProject} AND timestamp < toDateTime64(${formatInstant(before)}, 6, 'UTC')`;
}

/** Describes the deletion to people and for the audit trail. */
export function describeDeletion({ project, sources, isOfAll, before }: Deletion): string {
  const what = project === '' ? 'events without a project' : `events of project ${JSON.stringify(project)}`;
  const where = isOfAll ? 'all sources' : sources.map(({ name }) => name).join(', ');
  const until = before === undefined ? '' : `, before ${formatInstant(before).replace(' ', 'T')}Z`;
  return `${what} in ${where}${until}`;
}
