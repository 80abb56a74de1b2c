import { LRUCache } from 'lru-cache';
import type { Registry } from '../definitions/registry.ts';
import { isManaged } from '../definitions/source.ts';
import type { Engine } from '../engine/engine.ts';
import { isListed } from '../keys/grant.ts';
import type { Caller } from '../keys/keyring.ts';
import { OWNER } from '../query/pins.ts';
import { identifier, join, sql } from '../sql/sql.ts';
import type { Projects } from './view.ts';

// More do not help in a list of suggestions.
const PROJECTS_MAX = 1_000;
const PROJECTS_AGE_MS = 30_000;
const LANE = 'projects';

type ProjectsByTable = ReadonlyMap<string, readonly string[]>;

/**
 * @param now ms since the epoch
 * @returns a function that lists the projects with events in sources of the key, sorted, up to 30 s old; for a key that pins the project, only that one
 */
export function createProjects(engine: Engine, registry: Registry, now: () => number) {
  // Older ones are returned while they are read again, even if that fails.
  const projects = new LRUCache<'all', ProjectsByTable>({
    ...{ max: 1, ttl: PROJECTS_AGE_MS, ttlResolution: 0, perf: { now } },
    ...{ allowStale: true, noDeleteOnStaleGet: true, noDeleteOnFetchRejection: true },
    fetchMethod: readProjects,
  });

  /** The first projects of each table, sorted. Runs as a query in its own lane, with the limits of every query. */
  async function readProjects(): Promise<ProjectsByTable> {
    // External tables may be of any size, and need not be sorted by project.
    const own = registry.sources.filter(isManaged);
    const tables = own.map(
      ({ table }) =>
        sql`SELECT DISTINCT ${table} AS source, project FROM ${identifier(table)} WHERE project != ''`,
    );
    if (tables.length === 0) return new Map();
    const statement = sql`SELECT source, project FROM (${join(tables, ' UNION ALL ')})
      ORDER BY source, project LIMIT ${PROJECTS_MAX + 1} BY source`;
    const { bytes } = await engine.query(statement.text, {}, { format: 'JSONEachRow', lane: LANE });
    const rows = bytes.toString().split('\n').filter(Boolean).map(readRow);
    const byTable = Map.groupBy(rows, ({ source }) => source);
    return new Map([...byTable].map(([table, of]) => [table, of.map(({ project }) => project)]));
  }

  return async ({ pins, sources }: Caller): Promise<Projects> => {
    const pinned = pins[OWNER];
    if (pinned !== undefined) return { result: [pinned], complete: true };
    const byTable = await projects.fetch('all');
    const seen = registry.sources.filter((source) => isListed(sources, source));
    const names = seen.map(({ table }) => byTable?.get(table) ?? []);
    const all = [...new Set(names.flat())].toSorted();
    const complete = all.length <= PROJECTS_MAX && names.every((one) => one.length <= PROJECTS_MAX);
    return { result: all.slice(0, PROJECTS_MAX), complete };
  };
}

function readRow(line: string) {
  return JSON.parse(line) as { readonly source: string; readonly project: string }; // the columns of the SELECT
}
