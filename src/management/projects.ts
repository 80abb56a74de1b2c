import type { Registry } from '../definitions/registry.ts';
import { isManaged } from '../definitions/source.ts';
import type { Engine } from '../engine/engine.ts';
import type { Caller } from '../keys/keyring.ts';
import { createRefreshingValue } from '../lib/refreshing-value.ts';
import { OWNER } from '../query/pins.ts';
import type { Projects } from './view.ts';

// More are of no use in a list of suggestions.
const PROJECTS_MAX = 1_000;
const PROJECTS_AGE_MS = 30_000;
const LANE = 'projects';

/**
 * @param now ms since the epoch
 * @returns lists the projects that have events, sorted, up to 30 s old; for a key that pins the project, that one alone
 */
export function createProjects(engine: Engine, registry: Registry, now: () => number) {
  const projects = createRefreshingValue(readProjects, { maxAgeMs: PROJECTS_AGE_MS, now });

  /** Runs as a query in a lane of its own, with the limits of every query. */
  async function readProjects(): Promise<string[]> {
    // External tables may be of any size, and need not be sorted by project.
    const own = registry.sources.filter(isManaged);
    const tables = own.map(({ table }) => `SELECT DISTINCT project FROM \`${table}\``);
    if (tables.length === 0) return [];
    const sql = `SELECT DISTINCT project FROM (${tables.join(' UNION ALL ')})
      WHERE project != '' ORDER BY project LIMIT ${PROJECTS_MAX + 1}`;
    const { bytes } = await engine.query(sql, {}, { format: 'JSONEachRow', lane: LANE });
    const lines = bytes.toString().split('\n').filter(Boolean);
    return lines.map((line) => String((JSON.parse(line) as { project: unknown }).project)); // the one column of the SELECT
  }

  return async ({ pins }: Caller): Promise<Projects> => {
    const pinned = pins[OWNER];
    if (pinned !== undefined) return { result: [pinned], complete: true };
    const { value } = await projects.get();
    return { result: value.slice(0, PROJECTS_MAX), complete: value.length <= PROJECTS_MAX };
  };
}
