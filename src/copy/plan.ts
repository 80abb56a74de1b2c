import type { Source } from '../definitions/source.ts';
import type { Engine } from '../engine/engine.ts';
import { readDays } from '../engine/store-state.ts';
import { dropDay, storedTable } from '../engine/table.ts';
import { InputError } from '../errors.ts';
import type { Sql } from '../sql/sql.ts';
import type { DayEntry, Journal } from './journal.ts';

/** How to copy one day of one source. */
export interface DayPlan {
  readonly source: Source;
  /** `2026-11-20` */
  readonly day: string;
  readonly rows: number;
  /** On disk, at the source. */
  readonly bytes: number;
  /**
   * `copy`: from its first row. `continue`: it was begun. `check`: it was copied and verified. `newer`: likewise, but the target
   * has received more events since, so that it cannot be checked. `old`: beyond the retention of its source.
   */
  readonly step: 'copy' | 'continue' | 'check' | 'newer' | 'old';
}

export interface PlanOptions {
  readonly sources: readonly Source[];
  /** First and last day; all by default. */
  readonly fromDay: string | undefined;
  readonly untilDay: string | undefined;
  /** See `CopyJob.mixes`. */
  readonly mixes: boolean;
  /** ms since the epoch. */
  readonly now: number;
}

interface Target {
  /** `undefined`: the target is not queried; it is assumed to hold what the journal says. */
  readonly engine: Engine | undefined;
  readonly cluster: string;
  readonly journal: Journal;
}

const DAY_MS = 86_400_000;

/**
 * Checks every day on both sides before anything is sent.
 *
 * @throws InputError with a line for each day that cannot be copied without mixing in events from elsewhere, or storing events twice
 */
export async function planCopy(here: Engine, target: Target, options: PlanOptions): Promise<DayPlan[]> {
  const { sources, fromDay = '', untilDay = '9999', mixes, now } = options;
  const countThere = await readCounts(target);
  const byTable = new Map(sources.map((source) => [source.table, source]));
  const plans: DayPlan[] = [];
  const faults: string[] = [];
  for (const { table, day, rows, bytes } of await readDays(here)) {
    const source = byTable.get(table);
    if (source === undefined || day < fromDay || day > untilDay) continue;
    const plan = { source, day, rows, bytes };
    // Such a day loses events while they are counted, and is soon deleted here, too.
    const isOld = Date.parse(day) <= now - source.retentionDays * DAY_MS;
    const facts = { ...plan, found: countThere(source, day), cluster: target.cluster };
    const entry = target.journal.find(table, day);
    const verdict = isOld ? 'old' : entry === undefined ? judgeNew(facts, mixes) : judgeBegun(facts, entry);
    if (typeof verdict === 'string') plans.push({ ...plan, step: verdict });
    else faults.push(`${source.name} ${day}: ${verdict.fault}`);
  }
  if (faults.length > 0) throw new InputError(faults);
  return plans;
}

interface Facts extends Omit<DayPlan, 'step'> {
  /** Rows at the target; `undefined` if it was not queried. */
  readonly found: number | undefined;
  readonly cluster: string;
}

type Verdict = DayPlan['step'] | { readonly fault: string };

function judgeNew({ rows, found = 0 }: Facts, mixes: boolean): Verdict {
  if (found === 0 || mixes) return 'copy';
  const fault = `the target has ${count(found)} rows that did not come from here, and ${count(rows)} are here; --mix copies them nevertheless`;
  return { fault };
}

function judgeBegun({ source, day, rows, found, cluster }: Facts, entry: DayEntry): Verdict {
  const { here, before, verified } = entry;
  // An operator who deleted the copied rows wants them copied again.
  if (found === 0 && before.rows === 0 && (verified || entry.chunks > 0)) return 'copy';
  const remedy = before.rows === 0 ? copyAgain(dropDay(source, day, cluster)) : '';
  if (rows !== here.rows) {
    const what = `it has ${count(rows)} rows here now, and had ${count(here.rows)} when it was copied`;
    return { fault: what + remedy };
  }
  if (!verified) return 'continue';
  const copied = before.rows + here.rows;
  if (found === undefined || found === copied) return 'check';
  if (found > copied) return 'newer';
  return {
    fault: `${count(copied)} rows were there when it was copied, and ${count(found)} are now${remedy}`,
  };
}

/** Describes what an operator can do about a day that differs at the target. @param statement that deletes it there */
export function copyAgain({ text }: Sql): string {
  return `; to copy it again, delete it there first: ${text}`;
}

async function readCounts({
  engine,
  cluster,
}: Target): Promise<(source: Source, day: string) => number | undefined> {
  if (engine === undefined) return () => undefined;
  const rows = new Map((await readDays(engine)).map((one) => [`${one.table} ${one.day}`, one.rows]));
  return (source, day) => rows.get(`${storedTable(source, cluster)} ${day}`) ?? 0;
}

function count(number: number): string {
  return number.toLocaleString('en');
}
