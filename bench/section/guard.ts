import { execFileSync } from 'node:child_process';
import { availableParallelism } from 'node:os';
import { openBenchData } from '../data.ts';
import type { DiskJob, DiskUse } from '../disk-process.ts';
import { measureCached } from '../guard/cached.ts';
import {
  describeWorse,
  FIGURE_NAMES,
  FIGURES,
  type Figures,
  findWorse,
  takeBetter,
  WORSE_MAX,
} from '../guard/figure.ts';
import { GUARD_FILE, type Guard, readGuard, writeGuard } from '../guard/file.ts';
import { measureIngest } from '../guard/ingest.ts';
import { measureQuestions } from '../guard/questions.ts';
import { withReference } from '../guard/reference.ts';
import { ratioOf } from '../guard/rounds.ts';
import { measureStart } from '../guard/start.ts';
import { withLinkedCopy } from '../linked-copy.ts';
import { runChild } from '../load.ts';
import { type Row, say } from '../report.ts';
import type { BenchOptions } from '../section.ts';

/** Whatever `--rows` says: figures of other data are other figures. */
const ROWS = 300_000;
const DISK_MS_MAX = 60_000;

/**
 * Compares what Tailrace costs with bench/guard.json, or writes that file. A figure that is worse ends the command with exit code 1. Core
 * time and neighbouring rounds of both sides leave out most of what other work on the machine adds.
 */
export async function guardSection({ save = false }: BenchOptions): Promise<Row[]> {
  const saved = save ? undefined : readGuard(); // before the minutes of measuring
  const figures = await measureTwiceIfWorse(saved);
  if (saved === undefined) writeGuard({ ...describeVersion(), figures });
  else compare(saved, figures);
  return FIGURE_NAMES.map((name) => {
    const goal = saved && { goal: { below: saved.figures[name] * (1 + WORSE_MAX) } };
    return { name: `guard, ${name}: ${FIGURES[name]}`, unit: 'ratio', values: [figures[name]], ...goal };
  });
}

/** Measures all figures again if one is worse, and takes the lower ones: other work on the machine makes figures worse, never better. */
async function measureTwiceIfWorse(saved: Guard | undefined): Promise<Figures> {
  const first = await measureAll();
  const worse = saved === undefined ? [] : findWorse(saved.figures, first);
  if (worse.length === 0) return first;
  say(`guard: measures again, since ${worse.map(describeWorse).join('; ')}`);
  return takeBetter(first, await measureAll());
}

async function measureAll(): Promise<Figures> {
  const data = await openBenchData(ROWS);
  const disk = await measureDisk(data);
  const start = await measureStart(data);
  return await withReference(async (reference) => {
    const ingest = await measureIngest(reference);
    const questions = await measureQuestions(data, reference);
    const rounds = { start, ...ingest, ...questions, cached: await measureCached(data) };
    return { disk, ...mapValues(rounds, ratioOf) };
  });
}

async function measureDisk(data: Parameters<typeof withLinkedCopy>[0]): Promise<number> {
  return await withLinkedCopy(data, async ({ dataDir }) => {
    const tables = await runChild<DiskJob, DiskUse[]>('disk-process.ts', { dataDir }, DISK_MS_MAX);
    const sum = (of: (table: DiskUse) => number) => tables.reduce((total, table) => total + of(table), 0);
    return sum(({ bytes }) => bytes) / sum(({ jsonBytes, rows }) => jsonBytes * rows);
  });
}

function compare({ figures: saved, commit, date, cores }: Guard, measured: Guard['figures']): void {
  const worse = findWorse(saved, measured);
  if (cores !== availableParallelism()) say(`guard: ${GUARD_FILE} is of a machine with ${cores} cores`);
  for (const one of worse) say(`guard: worse than ${commit} of ${date}: ${describeWorse(one)}`);
  if (worse.length > 0) process.exitCode = 1;
}

function describeVersion(): Omit<Guard, 'figures'> {
  const commit = execFileSync('git', ['describe', '--always', '--dirty', '--exclude=*'], {
    encoding: 'utf8',
  }).trim();
  return { commit, date: new Date().toISOString().slice(0, 10), cores: availableParallelism() };
}

function mapValues<Name extends string, From, To>(
  record: Readonly<Record<Name, From>>,
  change: (value: From) => To,
): Record<Name, To> {
  const entries = Object.entries<From>(record).map(([name, value]) => [name, change(value)]);
  return Object.fromEntries(entries) as Record<Name, To>; // the same names
}
