import { isManaged, type Source } from '../definitions/source.ts';
import type { Engine } from '../engine/engine.ts';
import { MICROS_PER_MS } from '../lib/instant.ts';
import { identifier, join, sql } from '../sql/sql.ts';
import type { Deletions } from './deletions.ts';

export interface KeepProjectsOptions {
  readonly engine: Pick<Engine, 'inspect'>;
  readonly sources: () => readonly Source[];
  /** Project → days that its events are kept. */
  readonly days: () => ReadonlyMap<string, number>;
  /** The latest time that is certain, ms since the epoch; see `Retention`. */
  readonly certainMs: () => number;
  readonly deletions: Pick<Deletions, 'start'>;
}

const DAY_MS = 86_400_000;

/**
 * Returns a task that deletes whole days (UTC) of projects that have a retention, one project after another. Nothing is
 * deleted from sources that are protected or that Tailrace writes.
 */
export function createKeepProjects({ engine, sources, days, certainMs, deletions }: KeepProjectsOptions) {
  return async (): Promise<void> => {
    if (days().size === 0) return;
    const firstMs = (kept: number) => Math.floor(certainMs() / DAY_MS - kept) * DAY_MS;
    const first = new Map([...days()].map(([project, kept]) => [project, firstMs(kept)]));
    const found = new Map<string, Source[]>();
    for (const source of sources().filter(isOfProjects)) {
      for (const project of await findOld(engine, source, first))
        found.set(project, [...(found.get(project) ?? []), source]);
    }
    for (const [project, own] of found) {
      const before = (first.get(project) ?? 0) * MICROS_PER_MS;
      const deletion = { project, sources: own, isOfAll: false, leftOut: [], before };
      await (await deletions.start(deletion, { actor: 'retention', address: '' })).done;
    }
  };
}

function isOfProjects(source: Source): boolean {
  return isManaged(source) && source.isProtected !== true && source.isInternal !== true;
}

/** Finds the projects that have events before their first instant. @param first project → ms since the epoch */
async function findOld(
  engine: KeepProjectsOptions['engine'],
  { table }: Source,
  first: ReadonlyMap<string, number>,
): Promise<string[]> {
  const groups = Map.groupBy(first, ([, ms]) => ms);
  const conditions = [...groups].map(([ms, group]) => {
    const projects = group.map(([project]) => project);
    return sql`project IN (${projects}) AND timestamp < fromUnixTimestamp64Milli(${ms}, 'UTC')`;
  });
  const rows = await engine.inspect(
    sql`SELECT DISTINCT project FROM ${identifier(table)} WHERE ${join(conditions, ' OR ')}
      SETTINGS apply_mutations_on_fly = 1`,
  );
  return rows.map((row) => String(row['project']));
}
