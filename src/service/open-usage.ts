import { isManaged, type Source } from '../definitions/source.ts';
import type { Engine } from '../engine/engine.ts';
import type { Committer } from '../ingest/committer.ts';
import { parseEvent } from '../ingest/event.ts';
import { encodeRows } from '../ingest/rows.ts';
import type { Total } from '../ingest/usage/quota.ts';
import {
  createUsage,
  type DayTotals,
  ENTRIES_MAX,
  type Usage,
  type UsageEntry,
} from '../ingest/usage/usage.ts';
import { MICROS_PER_MS } from '../lib/instant.ts';
import { USAGE_SOURCE } from '../management/admin.ts';
import { identifier, sql } from '../sql/sql.ts';
import type { QuotasReader } from './companions.ts';
import type { Parts } from './parts.ts';

const WRITE_EVERY_MS = 60_000;

/** Finds the source; `undefined` if the folder of sources lacks it: nothing is then written, and quotas begin anew with each start. */
const findUsageSource = ({ core }: Pick<Parts, 'core'>): Source | undefined => {
  const source = core.registry.findSource(USAGE_SOURCE);
  return source !== undefined && isManaged(source) ? source : undefined;
};

/** Opens the counts of what is stored and asked; `keepUsage` writes them down. */
export async function openUsage(parts: Parts, quotas: QuotasReader): Promise<Usage> {
  const { core, config, metrics, now } = parts;
  const usage = createUsage({ now, onRefused: () => metrics.rateLimited('quota') });
  const source = findUsageSource(parts);
  if (source !== undefined && config.quotasFile !== '')
    usage.setTotals(await readTotals(core.engine, source, now()));
  quotas.onTaken(usage.setQuotas);
  return usage;
}

/** Writes what was counted once a minute, and when the service closes. Replicas then read what the others have written. */
export function keepUsage(parts: Parts, usage: Usage, committer: Pick<Committer, 'commit'>): void {
  const { core, config, logger, now, startTask, opened } = parts;

  async function write(): Promise<void> {
    const entries = usage.take();
    const source = findUsageSource(parts);
    if (source === undefined) return;
    try {
      if (entries.length > 0)
        await committer.commit(source, encodeRows(entries.map((entry) => toEvent(entry, source))));
    } catch (error) {
      usage.putBack(entries);
      throw error;
    }
    if (config.quotasFile === '' || core.engine.seesEveryWrite) return;
    usage.setTotals(await readTotals(core.engine, source, now()));
  }

  const report = (error: unknown) =>
    logger.error({ err: error }, 'the usage of the last minute could not be written');
  opened.defer(() => write().catch(report)); // once the task has stopped
  startTask({ name: 'usage', everyMs: WRITE_EVERY_MS, run: write });
}

function toEvent({ atMs, project, coreMs, ...counted }: UsageEntry, usage: Source) {
  const text = JSON.stringify({ project, timestamp: atMs, metadata: { ...counted, core_ms: coreMs } });
  const rules = { now: atMs * MICROS_PER_MS, project: '' };
  return parseEvent({ text }, usage, rules);
}

/** Reads what was stored and asked on the day of an instant, of the projects and keys that stored most. */
async function readTotals(engine: Engine, { table }: Source, nowMs: number): Promise<DayTotals> {
  const read = async (column: 'project' | 'key') => {
    const day = sql`toStartOfDay(fromUnixTimestamp64Milli(${nowMs}, 'UTC'))`;
    const rows = await engine.inspect(
      sql`SELECT ${identifier(column)} AS name, toFloat64(sum(events)) AS events, toFloat64(sum(bytes)) AS bytes,
          toFloat64(sum(queries)) AS queries, sum(core_ms) AS core_ms
        FROM ${identifier(table)} WHERE timestamp >= ${day} AND timestamp < ${day} + INTERVAL 1 DAY
        GROUP BY name ORDER BY events DESC, queries DESC LIMIT ${ENTRIES_MAX}`,
    );
    return new Map(rows.map((row) => [String(row['name']), toTotal(row)]));
  };
  const [projects, keys] = await Promise.all([read('project'), read('key')]);
  return { projects, keys };
}

const toTotal = (row: Record<string, unknown>): Total => ({
  events: Number(row['events']),
  bytes: Number(row['bytes']),
  queries: Number(row['queries']),
  coreMs: Number(row['core_ms']),
});
