import { ASSUMED, MEASURED, plain, reckon, SCALES, type Step, weekMs } from './capacity-model.ts';
import { page, table } from './page.ts';

const EXAMPLE = 2;
const WEEK_ROWS = [10_000, 100_000, 1_000_000, 10_000_000, 100_000_000];
// The largest project of the measurements.
const MEASURED_ROWS = 10_000_000;

/** docs/capacity.md: the model with its arithmetic, so that neither can change without the other. */
export function capacityPage(): string {
  const reckoned = SCALES.map(reckon);
  return page(
    'Capacity',
    `How much of everything, from a million events to a trillion. Figures are of two kinds, and stand in tables of their own: **measured**, each with
the command that repeats it, and **reckoned**, each with its formula. The tables are made by scripts/docs/capacity-model.ts: put your own
assumptions in there and run \`npm run docs\`. [Scaling](scaling.md#when-to-move) says when to leave the embedded engine.`,
    [
      `## Measured\n\n${INTRODUCTION_OF_MEASURED}\n\n${table(['What', 'Figure', 'Command'], measuredRows())}`,
      `## Assumed\n\nNothing of this was measured. It is what the reckoning below begins with.\n\n${table(['What', 'Figure'], assumedRows())}`,
      `## Reckoned, step by step\n\nFor ${describe(EXAMPLE)}:\n\n${table(['Figure', 'Formula', 'In numbers', 'Result'], exampleRows(reckoned[EXAMPLE] ?? []))}`,
      `## Reckoned, up to a trillion\n\n${table(['', ...SCALES.map(({ name }) => `${name} events`)], scaleRows(reckoned))}`,
      READING,
      `## One project that grows\n\n${PROJECT}\n\n${table(['Rows a week', 'a day', 'statistics', 'usage', 'the newest 100', ''], projectRows())}`,
      LEFT_OUT,
    ].join('\n\n'),
  );
}

const INTRODUCTION_OF_MEASURED = `On 2 cores and 24 GiB, shared with other work. Time on cores is of all threads of the process, which other work changes less than the
time that passes; load averages and rounds are in [performance](performance.md#what-things-cost). All of it on the embedded engine: of a ClickHouse server nothing has been measured.`;

const READING = `What decides:

- **Up to 100 M** the embedded engine does all of it: that many were measured on two cores. Two replicas and a server are for going on while one of them is down.
- **At 10 G** one server has room in every respect, and its copy is for its failure. The disk decides about more, not the cores.
- **At 1 T** the disk decides: keep events for 30 days instead of 90 and there is a third of the servers. Most of the cores are for the newest entries, which nothing keeps.
- **PostgreSQL and Redis** are small at any size. What they need is to be there.`;

const PROJECT = `Answers that are computed from every row of a project's week grow with its rows, those of its newest entries do not. Core ms; a
query has up to ${ASSUMED.threads.value} threads, so the answer may be there in an eighth of it where the cores are free. On the embedded engine a refresh of statistics computes
only the buckets that events came to, which was 5.7 times less ([performance](performance.md#keeping-answers-warm)).`;

const LEFT_OUT = `## What the reckoning leaves out

- The network between servers, and what a \`Distributed\` table adds: queries of one project are one shard's work. \`usage.api-counts\` matches addresses; for a
  key that pins no project every shard looks into its index, so its cost of few rows counts once for each shard.
- Keeper: three small machines, from two copies on.
- Backups, and the network that a lost copy takes when it is made anew: a full disk of 7 TB is 16 hours at 1 Gbit/s.
- Larger events: the disk goes by bytes. At ${plain(MEASURED.jsonBytes.value)} bytes of JSON it is ${MEASURED.diskBytes.value}, of logs that repeat themselves as these do; yours may be
  several times that. \`npm run bench -- disk\` is of sample logs: load a day of your own and look at the store's size.
- Many small requests: an event a request costs a request each ([performance](performance.md#taking-events-in)).`;

function measuredRows(): string[][] {
  return Object.values(MEASURED).map(({ what, value, unit, command }) => [
    what,
    `${plain(value)} ${unit}`,
    `\`${command}\``,
  ]);
}

function assumedRows(): string[][] {
  return Object.values(ASSUMED).map(({ what, value, unit }) => [what, show(value, unit)]);
}

function exampleRows(steps: readonly Step[]): string[][] {
  return steps.map(({ name, formula, numbers, value, unit }) => [name, formula, numbers, show(value, unit)]);
}

function scaleRows(reckoned: readonly (readonly Step[])[]): string[][] {
  const given = [
    ['projects', ...SCALES.map(({ projects }) => plain(projects))],
    ['requests', ...SCALES.map(({ requestsPerSecond }) => show(requestsPerSecond, 'a second'))],
  ];
  const [first = []] = reckoned;
  return [
    ...given,
    ...first.map(({ name, unit }, i) => [name, ...reckoned.map((steps) => show(steps[i]?.value ?? 0, unit))]),
  ];
}

function projectRows(): string[][] {
  return WEEK_ROWS.map((rows) => [
    plain(rows),
    plain(rows / 7),
    plain(weekMs('stats', rows)),
    plain(weekMs('usage', rows)),
    plain(MEASURED.newestMs.value),
    rows > MEASURED_ROWS ? 'reckoned' : 'on the line through what was measured',
  ]);
}

function describe(index: number): string {
  const { name = '', projects = 0, requestsPerSecond = 0 } = SCALES[index] ?? {};
  return `${name} events of ${plain(projects)} projects, ${plain(requestsPerSecond)} requests a second`;
}

const BYTES = ['bytes', 'KB', 'MB', 'GB', 'TB', 'PB'];

/** With its unit; bytes in the decimal unit that fits. */
function show(value: number, unit: string): string {
  const [, rest] = /^bytes(.*)$/.exec(unit) ?? [];
  if (rest === undefined) return `${plain(value)} ${unit}`.trimEnd();
  const step = Math.min(BYTES.length - 1, Math.max(0, Math.floor(Math.log10(Math.max(1, value)) / 3)));
  return `${plain(value / 1000 ** step)} ${BYTES[step]}${rest === '' ? '' : rest}`;
}
