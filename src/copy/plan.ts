import type { Source } from '../definitions/source.ts';
import type { Engine } from '../engine/engine.ts';
import { readDays } from '../engine/store-state.ts';
import { dropDay, storedTable } from '../engine/table.ts';
import { InputError } from '../errors.ts';
import type { DayEntry, Journal } from './journal.ts';

/** What is to be done with one day of one source. */
export interface DayPlan {
  readonly source: Source;
  /** `2026-11-20` */
  readonly day: string;
  readonly rows: number;
  /** On the disk, here. */
  readonly bytes: number;
  /**
   * `copy`: from its first row. `continue`: it was begun. `check`: it was copied and verified. `newer`: it was, and the target
   * has got other events for it since, so that there is nothing to check it by. `old`: no event of it would stay there.
   */
  readonly step: 'copy' | 'continue' | 'check' | 'newer' | 'old';
}

export interface PlanOptions {
  readonly sources: readonly Source[];
  /** First and last day, where given. */
  readonly fromDay: string | undefined;
  readonly untilDay: string | undefined;
  /** Whether days may be copied to where others have stored events. */
  readonly mixes: boolean;
  /** ms since the epoch. */
  readonly now: number;
}

interface Target {
  /** Left out: the target is not asked, and is taken to hold what the journal says. */
  readonly engine: Engine | undefined;
  readonly cluster: string;
  readonly journal: Journal;
}

const DAY_MS = 86_400_000;

/**
 * Looks at every day, here and at the target, before anything is sent.
 *
 * @throws InputError with a line for each day that cannot be copied without mixing events with others' or storing them twice
 */
export async function planCopy(here: Engine, target: Target, options: PlanOptions): Promise<DayPlan[]> {
  const { sources, fromDay = '', untilDay = '9999', now } = options;
  const countThere = await readCounts(target);
  const byTable = new Map(sources.map((source) => [source.table, source]));
  const plans: DayPlan[] = [];
  const faults: string[] = [];
  for (const { table, day, rows, bytes } of await readDays(here)) {
    const source = byTable.get(table);
    if (source === undefined || day < fromDay || day > untilDay) continue;
    // Events of such a day leave while they are counted, and the day is gone within a day here, too.
    if (Date.parse(day) <= now - source.retentionDays * DAY_MS) {
      plans.push({ source, day, rows, bytes, step: 'old' });
      continue;
    }
    const entry = target.journal.find(table, day);
    const facts = { source, day, rows, found: countThere(source, day), entry };
    const step = entry === undefined ? judgeUnknown(facts, options.mixes) : judgeKnown({ ...facts, entry });
    if (typeof step === 'string') plans.push({ source, day, rows, bytes, step });
    else faults.push(`${source.name} ${day}: ${step.fault(target.cluster)}`);
  }
  if (faults.length > 0) throw new InputError(faults);
  return plans;
}

/** What is known of a day; `found` is how many rows it has at the target, where that was asked. */
interface Facts {
  readonly source: Source;
  readonly day: string;
  readonly rows: number;
  readonly found: number | undefined;
}

type Verdict = DayPlan['step'] | { fault(cluster: string): string };

function judgeUnknown({ rows, found = 0 }: Facts, mixes: boolean): Verdict {
  if (found === 0 || mixes) return 'copy';
  return {
    fault: () =>
      `the target has ${count(found)} rows that did not come from here, and ${count(rows)} are here; --mix puts them together`,
  };
}

function judgeKnown({ source, day, rows, found, entry }: Facts & { entry: DayEntry }): Verdict {
  const { here, before, verified } = entry;
  // Whoever took away what was copied wants it copied again, or it would not be asked for.
  if (found === 0 && before.rows === 0 && (verified || entry.chunks > 0)) return 'copy';
  const again = (cluster: string) =>
    before.rows === 0 ? `; to copy it anew, take it away there first: ${dropDay(source, day, cluster)}` : '';
  if (rows !== here.rows) {
    const what = `it has ${count(rows)} rows here now, and had ${count(here.rows)} when it was copied`;
    return { fault: (cluster) => what + again(cluster) };
  }
  if (!verified) return 'continue';
  const copied = before.rows + here.rows;
  if (found === undefined || found === copied) return 'check';
  if (found > copied) return 'newer';
  const what = `${count(copied)} rows were there when it was copied, and ${count(found)} are now`;
  return { fault: (cluster) => what + again(cluster) };
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
