import type { FastifyInstance } from 'fastify';
import { isManaged } from '../../definitions/source.ts';
import { createRefreshingValue } from '../../lib/refreshing-value.ts';
import { OWNER } from '../../query/pins.ts';
import type { HttpContext } from '../context.ts';
import { createAuth, getCaller } from '../plugins/auth.ts';
import type { Projects } from '../view.ts';

export const PROJECTS_PATH = '/api/projects';

// More are of no use in a list of suggestions.
const PROJECTS_MAX = 1_000;
const PROJECTS_AGE_MS = 30_000;
const LANE = 'projects';

/** Projects that have events, in order: those that a key may read, which is its own where the key pins one. */
export function projectsRoute(app: FastifyInstance, { engine, registry, keyring, now }: HttpContext): void {
  const projects = createRefreshingValue(readProjects, { maxAgeMs: PROJECTS_AGE_MS, now });

  /** As a query like any other, in turn with those of the callers and within their limits. */
  async function readProjects(): Promise<string[]> {
    // Others' tables may be of any size, and need not be sorted by project.
    const own = registry.sources.filter(isManaged);
    const tables = own.map(({ table }) => `SELECT DISTINCT project FROM \`${table}\``);
    if (tables.length === 0) return [];
    const sql = `SELECT DISTINCT project FROM (${tables.join(' UNION ALL ')})
      WHERE project != '' ORDER BY project LIMIT ${PROJECTS_MAX + 1}`;
    const { bytes } = await engine.query(sql, {}, { format: 'JSONEachRow', lane: LANE });
    const lines = bytes.toString().split('\n').filter(Boolean);
    return lines.map((line) => String((JSON.parse(line) as { project: unknown }).project));
  }

  app.get(PROJECTS_PATH, { onRequest: createAuth(keyring, 'query') }, async (request): Promise<Projects> => {
    const own = getCaller(request).pins[OWNER];
    if (own !== undefined) return { result: [own], complete: true };
    const { value } = await projects.get();
    return { result: value.slice(0, PROJECTS_MAX), complete: value.length <= PROJECTS_MAX };
  });
}
