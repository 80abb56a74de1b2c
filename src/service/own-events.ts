import { hash } from 'node:crypto';
import { isManaged, type Source } from '../definitions/source.ts';
import type { Engine } from '../engine/engine.ts';
import type { Committer } from '../ingest/committer.ts';
import { type Event, parseEvent } from '../ingest/event.ts';
import { RejectedEvent } from '../ingest/read-event.ts';
import { encodeRows } from '../ingest/rows.ts';
import {
  createUsage,
  type DayTotals,
  ENTRIES_MAX,
  type Total,
  type Usage,
  type UsageEntry,
} from '../ingest/usage.ts';
import type { AuditBatch, AuditEntry } from '../keys/audit.ts';
import type { ControlStore } from '../keys/control-store.ts';
import { formatInstant, MICROS_PER_MS } from '../lib/instant.ts';
import { identifier, sql } from '../sql/sql.ts';
import type { Context } from './context.ts';

/** Finds a source that the service writes; without it in the folder of sources nothing is written. */
function findOwnSource({ core }: Pick<Context, 'core'>, name: string): Source | undefined {
  const source = core.registry.findSource(name);
  return source !== undefined && isManaged(source) ? source : undefined;
}

/** The source that has the entries of the audit trail as events. */
const AUDIT_SOURCE = 'tailrace.audit';
// All that a control store keeps of both kinds: the rest waits for the next run.
const BATCHES_PER_RUN_MAX = 100;

/**
 * Copies new entries of the audit trail into their source: at the start, every ten seconds, and when the service closes. A
 * batch that failed is tried again. Two replicas may copy the same one: they use the same deduplication token, and what was
 * stored long ago, before the control store was restored or copied, is found by its ids.
 */
export function keepAudit(context: Context, committer: Pick<Committer, 'commit'>): void {
  const { control, core, now, startTask } = context;

  async function copy(batch: AuditBatch, source: Source): Promise<void> {
    const names = await readNames(control, batch.entries);
    const events = batch.entries.flatMap(
      (entry) => toAuditEvent(entry, { source, names, nowMs: now() }) ?? [],
    );
    const missing = await leaveOutStored(core.engine, source, events);
    if (missing.length === 0) return;
    await committer.commit(source, encodeRows(missing), { token: toToken(batch) });
  }

  async function run(): Promise<void> {
    const source = findOwnSource(context, AUDIT_SOURCE);
    if (source === undefined) return;
    for (let i = 0; i < BATCHES_PER_RUN_MAX; i++) {
      const batch = await control.auditCopy.next();
      if (batch === undefined) return;
      await copy(batch, source);
      await control.auditCopy.done(batch);
    }
  }

  void startTask({ name: 'audit', everyMs: 10_000, run, runsAtEnd: true }).trigger();
}

/**
 * Returns the entry as an event; `undefined` if the source no longer keeps one of its age.
 * @param names of keys, by their ids
 */
function toAuditEvent(
  entry: AuditEntry,
  { source, names, nowMs }: { source: Source; names: ReadonlyMap<string, string>; nowMs: number },
): Event | undefined {
  const { atMs, action, actor, address = '', keyId, detail, count } = entry;
  const metadata = {
    ...{ action, actor, actor_name: names.get(actor), address, key: keyId, key_name: names.get(keyId) },
    ...{ detail, count },
  };
  const message = [action, keyId, actor && `by ${actor}`, detail && `(${detail})`].filter(Boolean).join(' ');
  const text = JSON.stringify({ id: toId(entry), timestamp: atMs, project: '', message, metadata });
  const rules = { now: Math.max(atMs, nowMs) * MICROS_PER_MS, ageAt: nowMs * MICROS_PER_MS, project: '' };
  try {
    return parseEvent({ text }, source, rules);
  } catch (error) {
    if (error instanceof RejectedEvent) return undefined;
    throw error;
  }
}

/** The id depends on what the entry says: it has another number in each control store. */
function toId({ atMs, action, actor, address = '', keyId, detail, count }: AuditEntry): string {
  return hashOf([atMs, action, actor, address, keyId, detail, count]);
}

/** Names the batch alike in every process, even if some of its events have been stored: each day is stored as a whole. */
function toToken({ after, until, entries }: AuditBatch): string {
  const [first, last] = [entries.at(0), entries.at(-1)].map((entry) => entry && toId(entry));
  return `audit-${hashOf([after, until, first, last])}`;
}

function hashOf(values: readonly unknown[]): string {
  return hash('sha256', JSON.stringify(values)).slice(0, 32);
}

/** Returns the names of the keys that entries are about, or that acted. */
async function readNames(control: ControlStore, entries: readonly AuditEntry[]) {
  const names = new Map<string, string>();
  for (const id of new Set(entries.flatMap(({ keyId, actor }) => [keyId, actor]))) {
    const key = await control.readKey(id);
    if (key !== undefined) names.set(id, key.name);
  }
  return names;
}

/** Returns the events that are not in the source's table. */
async function leaveOutStored(engine: Engine, { table }: Source, events: readonly Event[]): Promise<Event[]> {
  const times = events.map(({ timestamp }) => timestamp);
  const at = (time: number) => sql`toDateTime64(${formatInstant(time)}, 6, 'UTC')`;
  if (events.length === 0) return [];
  const rows = await engine.inspect(
    sql`SELECT id FROM ${identifier(table)} WHERE project = ''
      AND timestamp BETWEEN ${at(Math.min(...times))} AND ${at(Math.max(...times))}
      AND id IN (${events.map(({ id }) => id)})`,
  );
  const stored = new Set(rows.map(({ id }) => id));
  return events.filter(({ id }) => !stored.has(id));
}

/** The source in which the service writes down what was stored and asked; without it quotas begin anew with each start. */
const USAGE_SOURCE = 'tailrace.usage';

/** Opens the counts of what is stored and asked; `keepUsage` writes them down. */
export async function openUsage(context: Context): Promise<Usage> {
  const { core, config, files, metrics, now } = context;
  const usage = createUsage({ now, onRejected: () => metrics.rateLimited.inc('quota') });
  const source = findOwnSource(context, USAGE_SOURCE);
  if (source !== undefined && config.quotasFile !== '')
    usage.setTotals(await readTotals(core.engine, source, now()));
  files.quotas.onTaken(usage.setQuotas);
  return usage;
}

/** Writes what was counted once a minute, and when the service closes. Replicas then read what the others have written. */
export function keepUsage(context: Context, usage: Usage, committer: Pick<Committer, 'commit'>): void {
  const { core, config, now, startTask } = context;

  async function write(): Promise<void> {
    const entries = usage.take();
    const source = findOwnSource(context, USAGE_SOURCE);
    if (source === undefined) return;
    try {
      if (entries.length > 0)
        await committer.commit(source, encodeRows(entries.map((entry) => toUsageEvent(entry, source))));
    } catch (error) {
      usage.putBack(entries);
      throw error;
    }
    if (config.quotasFile === '' || core.engine.seesEveryWrite) return;
    usage.setTotals(await readTotals(core.engine, source, now()));
  }

  startTask({ name: 'usage', everyMs: 60_000, run: write, runsAtEnd: true });
}

function toUsageEvent({ atMs, project, coreMs, ...counted }: UsageEntry, usage: Source) {
  const text = JSON.stringify({ project, timestamp: atMs, metadata: { ...counted, core_ms: coreMs } });
  const rules = { now: atMs * MICROS_PER_MS, project: '' };
  return parseEvent({ text }, usage, rules);
}

/** Reads what was stored and asked on the day of an instant, of the projects and keys that stored most. */
async function readTotals(engine: Engine, { table }: Source, nowMs: number): Promise<DayTotals> {
  const read = async (column: 'project' | 'key') => {
    const day = sql`toStartOfDay(fromUnixTimestamp64Milli(${nowMs}, 'UTC'))`;
    const rows: (Total & { name: string })[] = await engine.inspect(
      sql`SELECT ${identifier(column)} AS name, sum(ifNull(events, 0)) AS events, sum(ifNull(bytes, 0)) AS bytes,
          sum(ifNull(queries, 0)) AS queries, sum(ifNull(core_ms, 0)) AS coreMs
        FROM ${identifier(table)} WHERE timestamp >= ${day} AND timestamp < ${day} + INTERVAL 1 DAY
        GROUP BY name ORDER BY events DESC, queries DESC LIMIT ${ENTRIES_MAX}`,
    );
    return new Map(rows.map(({ name, ...total }) => [name, total]));
  };
  const [projects, keys] = await Promise.all([read('project'), read('key')]);
  return { projects, keys };
}
