import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import type { Ingest } from '../ingest/ingest.ts';
import type { ControlStore } from '../keys/control-store.ts';
import { createDeletions, type Deletions, FOLLOW_EVERY_MS } from '../maintenance/deletions.ts';
import { createKeepProjects } from '../maintenance/keep-projects.ts';
import type { QuotasReader } from './companions.ts';
import type { Parts } from './parts.ts';

/** Deletions of events, for the management API and the commands of the shell. */
export function createServiceDeletions(
  parts: Parts,
  { ingest, control, forget, quotas, certainMs }: DeletionParts,
): Deletions {
  const { core, reserve, now, startTask } = parts;
  const { engine } = core;
  const followDeletions = async () => {
    if (!(await core.followDeletions())) return;
    forget();
  };
  const deletions = createDeletions({
    core: { engine, followDeletions },
    ...{ control, holdInserts: ingest.committer.hold, now, newId: randomUUID, wait },
    makeRoom: reserve.free,
  });
  const keep = () => reserve.keep(deletions.isRunning() ? DELETION_BYTES : undefined);
  void startTask({ name: 'reserve', everyMs: RESERVE_EVERY_MS, run: keep }).trigger();
  deletions.watch();
  // On a server other processes delete events, too.
  if (!engine.seesEveryWrite)
    startTask({ name: 'deletions', everyMs: FOLLOW_EVERY_MS, run: followDeletions });
  keepProjects(parts, { quotas, deletions, certainMs });
  return deletions;
}

const RESERVE_EVERY_MS = 5_000;
// A deletion needs what it frees; with so much to spare events need not wait for its end.
const DELETION_BYTES = 1024 ** 3;
const KEEP_PROJECTS_EVERY_MS = 3_600_000;

/** Deletes what is older than the retention of its project: at start, and every hour. */
function keepProjects(
  parts: Parts,
  { quotas, deletions, certainMs }: Pick<DeletionParts, 'quotas' | 'certainMs'> & { deletions: Deletions },
): void {
  const { core, startTask } = parts;
  const { engine, registry } = core;
  let days: ReadonlyMap<string, number> = new Map();
  quotas.onTaken(({ retentionDays }) => {
    days = retentionDays;
  });
  const run = createKeepProjects({
    ...{ engine, certainMs, deletions, sources: () => registry.sources, days: () => days },
  });
  void startTask({ name: 'project-retention', everyMs: KEEP_PROJECTS_EVERY_MS, run }).trigger();
}

interface DeletionParts {
  readonly ingest: Pick<Ingest, 'committer'>;
  readonly control: ControlStore;
  readonly quotas: QuotasReader;
  /** See `Retention`. */
  readonly certainMs: () => number;
  /** Drops what this process keeps of events in memory. */
  readonly forget: () => void;
}

/** Does not keep the process from ending. */
async function wait(ms: number): Promise<void> {
  await delay(ms, undefined, { ref: false });
}
