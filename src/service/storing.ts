import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { isManaged } from '../definitions/source.ts';
import { createRollupBuilder } from '../engine/mutations.ts';
import { createIngest, type Ingest } from '../ingest/receive.ts';
import type { RejectedLog } from '../ingest/rejected.ts';
import type { Usage } from '../ingest/usage.ts';
import { createThrottle } from '../lib/task.ts';
import { createDeletions, type Deletions, FOLLOW_EVERY_MS } from '../maintenance/deletions.ts';
import { createKeepProjects, createRetention, type Retention } from '../maintenance/retention.ts';
import type { Context } from './context.ts';
import { keepUsage } from './own-events.ts';

const HOUR_MS = 3_600_000;
// A deletion needs what it frees; with so much to spare events need not wait for its end.
const DELETION_BYTES = 1024 ** 3;
const WITHOUT_PROJECT =
  'events without a project were stored, which no key that pins a project can read; ' +
  'name it in the event, in X-Project or in TAILRACE_DEFAULT_PROJECT';

/** Opens the parts that store events, and delete old ones. */
export async function openStoring(
  context: Context,
  { usage, rejectedEvents }: { readonly usage: Usage; readonly rejectedEvents: RejectedLog },
) {
  const { config, core, metrics, storing, logger, now, opened } = context;
  const withoutProject = new Map<string, number>();
  const throttle = createThrottle(now);
  const retention = await startRetention(context); // first: it knows which time is certain
  const ingest = createIngest({
    ...{ engine: core.engine, now, config, usage },
    ageAt: retention.certainMs,
    requireRoom: storing.requireRoom,
    onCommit(source, rows, error) {
      metrics.committed(source, rows, error !== undefined);
      storing.committed(error);
      if (error !== undefined) logger.error({ err: error, source, rows }, 'events could not be stored');
    },
    onOverload: metrics.overloads.inc,
    onRejected: rejectedEvents.add,
    onCounted(source, counts) {
      metrics.received(source, counts);
      if (counts.withoutProject === 0) return;
      withoutProject.set(source, counts.withoutProject + (withoutProject.get(source) ?? 0));
      throttle(() => {
        logger.warn({ events: Object.fromEntries(withoutProject) }, WITHOUT_PROJECT);
        withoutProject.clear();
      });
    },
  });
  opened.defer(ingest.close);
  keepUsage(context, usage, ingest.committer);
  return { ingest, retention, rollupRowsLeft: startRollups(context) };
}

/** Deletes days that are too old, or too many, from the store of a service: once before it resolves, then every hour. */
async function startRetention(context: Context): Promise<Retention> {
  const { config, core, reserve, metrics, logger, now, startTask } = context;
  const retention = createRetention({
    engine: core.engine,
    sources: () => core.registry.sources.filter(isManaged),
    now,
    ticks: () => performance.now(),
    storeBytesMax: config.storeBytesMax,
    makeRoom: reserve.free,
    onDropped({ table, day, rows, bytes, reason }) {
      metrics.daysDropped.inc(reason);
      logger.info({ table, day, rows, bytes, reason }, 'a day of events was dropped');
    },
    onStopped(reason) {
      if (reason === undefined) logger.info('retention continues: the clock is plausible');
      else logger.error(reason);
    },
  });
  await startTask({ name: 'retention', everyMs: HOUR_MS, run: retention.run }).trigger();
  return retention;
}

/**
 * Adds rollups to stored events in the background, and logs progress.
 * @returns a function that returns the rows without a rollup, by source
 */
function startRollups({ core: { engine, registry }, logger, startTask }: Context) {
  const builder = createRollupBuilder({
    engine,
    sources: () => registry.sources.filter(isManaged),
    onNotDropped: (error) =>
      logger.warn({ err: error }, 'an older rollup could not be dropped; trying again'),
    onProgress({ source: { name: source }, rows, left }, state) {
      const failed = 'a rollup is incomplete until the next start: queries read rows';
      if (state === 'started')
        logger.info({ source, rows: left }, 'a rollup of stored events is being built');
      else if (state === 'done') logger.info({ source, rows }, 'a rollup is complete');
      else logger.error({ source, rows: left }, failed);
    },
  });
  void startTask({ name: 'rollups', everyMs: 10_000, run: builder.tick }).trigger();
  return () => builder.left;
}

/** Deletions of events, for the management API and the commands of the shell. */
export function openDeletions(
  context: Context,
  stored: { readonly ingest: Ingest; readonly retention: Retention; readonly rejectedEvents: RejectedLog },
): Deletions {
  const { control, core, reserve, now, startTask } = context;
  const { engine } = core;
  const followDeletions = async () => {
    if (await core.followDeletions()) stored.rejectedEvents.forget(); // it keeps events in memory
  };
  const deletions = createDeletions({
    core: { engine, followDeletions },
    ...{ control, now, newId: randomUUID },
    holdInserts: stored.ingest.committer.hold,
    wait: (ms) => delay(ms, undefined, { ref: false }), // does not keep the process from ending
    makeRoom: reserve.free,
  });
  const keep = () => reserve.keep(deletions.isRunning() ? DELETION_BYTES : undefined);
  void startTask({ name: 'reserve', everyMs: 5_000, run: keep }).trigger();
  deletions.watch();
  // On a server other processes delete events, too.
  if (!engine.seesEveryWrite)
    startTask({ name: 'deletions', everyMs: FOLLOW_EVERY_MS, run: followDeletions });
  keepProjects(context, deletions, stored.retention.certainMs);
  return deletions;
}

/** Deletes what is older than the retention of its project: at start, and every hour. */
function keepProjects(
  { core, files, startTask }: Context,
  deletions: Deletions,
  certainMs: Retention['certainMs'],
): void {
  const { engine, registry } = core;
  const sources = () => registry.sources;
  const days = () => files.quotas.current().retentionDays;
  const run = createKeepProjects({ engine, certainMs, deletions, sources, days });
  void startTask({ name: 'project-retention', everyMs: HOUR_MS, run }).trigger();
}
