import type { Source } from '../../definitions/source.ts';
import { beginDeletion } from '../../engine/delete-rows.ts';
import type { Engine } from '../../engine/engine.ts';
import type { AuditEntry } from '../../keys/audit/audit-entry.ts';
import type { ControlStore } from '../../keys/control-store.ts';
import { createSlots } from '../../lib/slots.ts';
import { identifier, join, sql } from '../../sql/sql.ts';
import { type Deletion, describeDeletion, toCondition } from './request.ts';

/** The events of one source that a deletion concerns. */
export interface SourceRows {
  readonly source: string;
  readonly rows: number;
  /** Events of a protected source, which stay; `rows` is then 0. */
  readonly kept?: number;
}

/** A deletion that the engine knows of. */
export interface Begun {
  readonly acceptedMs: number;
  readonly counted: readonly SourceRows[];
  /** The sources whose tables have rows to delete. */
  readonly sources: readonly Source[];
  /** The failure after which the last of them, and others, may not have begun. */
  readonly failure: unknown;
}

export interface BeginParts {
  readonly engine: Engine;
  readonly control: Pick<ControlStore, 'record'>;
  /** Keeps this process from storing events until `release`, which is idempotent. `idle` resolves when none are being stored. */
  readonly holdInserts: () => { readonly idle: Promise<void>; readonly release: () => void };
  /** ms since the epoch. */
  readonly now: () => number;
  /** Waits between two tries. */
  readonly pause: () => Promise<void>;
  /** Called for each source, before the engine gets it. */
  readonly onBegin: (source: Source) => void;
}

/** The originator of a deletion, for the audit trail: a person, a key's id, or `cli`. */
export type By = Pick<AuditEntry, 'actor' | 'address'>;

// It takes some milliseconds. If the engine hangs, events would wait for minutes, and their senders with them: a command for another
// server of a cluster, which is down, takes 180 s.
const HOLD_MS_MAX = 10_000;

/**
 * Begins deletions, one at a time. This process stores nothing meanwhile, for 10 s at most: what a deletion counts is what it deletes,
 * and its moment is the same in all tables. Events that are stored after the 10 s, or by other processes on a server, come before or after
 * it in the order in which the engine got both; events that are sent once the deletion is accepted stay in any case.
 */
export function createBegin({ engine, control, holdInserts, now, pause, onBegin }: BeginParts) {
  const acquire = createSlots(1);

  /** @param sources gets those that have begun */
  async function beginAll(
    deletion: Deletion,
    counted: readonly SourceRows[],
    sources: Source[],
  ): Promise<void> {
    const condition = toCondition(deletion);
    const withRows = new Set(counted.filter(({ rows }) => rows > 0).map(({ source }) => source));
    for (const source of deletion.sources) {
      if (!withRows.has(source.name)) continue;
      sources.push(source);
      onBegin(source);
      await beginDeletion(engine, source, condition, pause);
    }
  }

  async function audit(deletion: Deletion, counted: readonly SourceRows[], by: By): Promise<void> {
    const rows = counted.reduce((sum, one) => sum + one.rows, 0);
    if (rows === 0) return;
    const detail = `${rows} ${describeDeletion(deletion)}`;
    const entry = { atMs: now(), action: 'deleted', keyId: '', ...by, detail, count: 1 } as const;
    await control.record({ used: [], entries: [entry] });
  }

  return async function begin(deletion: Deletion, by: By): Promise<Begun> {
    const slot = await acquire();
    const hold = holdFor(HOLD_MS_MAX, holdInserts());
    const sources: Source[] = [];
    try {
      await hold.ready;
      const counted = await countEvents(engine, deletion);
      await audit(deletion, counted, by);
      const failure = await beginAll(deletion, counted, sources).then(
        () => undefined,
        (error: unknown) => error,
      );
      return { acceptedMs: now(), counted, sources, failure };
    } finally {
      hold.release();
      slot.release();
    }
  };
}

/** Creates a hold that ends by itself. `ready`: nothing is being stored, or it has ended. */
function holdFor(ms: number, { idle, release }: ReturnType<BeginParts['holdInserts']>) {
  const late = Promise.withResolvers<void>();
  const timer = setTimeout(() => {
    release();
    late.resolve(); // under load the queue may never be idle again
  }, ms);
  return {
    ready: Promise.race([idle, late.promise]),
    release() {
      clearTimeout(timer);
      release();
    },
  };
}

/** Counts the events by source. Those that an earlier deletion will remove do not count. */
export async function countEvents(engine: Engine, deletion: Deletion): Promise<SourceRows[]> {
  const condition = toCondition(deletion);
  const { sources, leftOut } = deletion;
  const counts = [...sources, ...leftOut].map(
    ({ table }, i) =>
      sql`SELECT ${i} AS source, count() AS rows FROM ${identifier(table)} WHERE ${condition}`,
  );
  if (counts.length === 0) return [];
  const found = await engine.inspect(
    sql`${join(counts, '\nUNION ALL ')}\nSETTINGS apply_mutations_on_fly = 1`,
  );
  const rows = new Map(found.map((row) => [Number(row['source']), Number(row['rows'])]));
  const rowsAt = (i: number) => rows.get(i) ?? 0;
  return [
    ...sources.map(({ name }, i) => ({ source: name, rows: rowsAt(i) })),
    ...leftOut.map(({ name }, i) => ({ source: name, rows: 0, kept: rowsAt(sources.length + i) })),
  ];
}
