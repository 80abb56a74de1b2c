import { ASSUMED, COST, MEASURED, SCALES, WEEKS } from './capacity-figures.ts';
import { compute, plain, rowMs, type Step, unpinnedRowMs, weekMs } from './capacity-model.ts';
import { page, table } from './page.ts';

const EXAMPLE = 2;
const GROWN_ROWS = 100_000_000;
const NANOS_PER_MS = 1e6;

/** docs/capacity.md: the model with its arithmetic, generated so that they always match. */
export function capacityPage(): string {
  const computed = SCALES.map(compute);
  return page(
    'Capacity',
    `How much of everything, from a million events to a trillion. Figures are of two kinds, and stand in tables of their own: **measured**, each with
the command that repeats it, and **computed**, each with its formula. The tables are made from scripts/docs/capacity-figures.ts: put your own
assumptions in there and run \`npm run docs\`. [Scaling](scaling.md#when-to-move) says when to leave the embedded engine.`,
    [
      `## Measured\n\n${INTRODUCTION_OF_MEASURED}\n\n${table(['What', 'Figure', 'Command'], measuredRows())}\n\n${WEEKS_MEASURED}\n\n${table(['Rows a week', 'statistics', 'usage, pinned', 'usage, not pinned', 'the newest 100'], weekRows())}`,
      `## Assumed\n\nNothing of this was measured. It is what the computation below starts with.\n\n${table(['What', 'Figure'], assumedRows())}`,
      `## Computed, step by step\n\nFor ${describe(EXAMPLE)}:\n\n${table(['Figure', 'Formula', 'In numbers', 'Result'], exampleRows(computed[EXAMPLE] ?? []))}`,
      `## Computed, up to a trillion\n\n${table(['', ...SCALES.map(({ name }) => `${name} events`)], scaleRows(computed))}`,
      READING,
      `## One project that grows\n\n${PROJECT}\n\n${table(['Rows a week', 'a day', 'statistics', 'usage, pinned'], projectRows())}`,
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

const WEEKS_MEASURED = `Questions about a week (\`functions.invocation-stats\` 7day, \`usage.api-counts\` daily, \`logs.all\`), by the rows that their project has in it, in core ms; \`${COST}\`. Pinned: by
a key that is held to its project.`;

const PROJECT = `Computed: the line through the least and the most rows that were measured, ${plain(rowMs('stats') * NANOS_PER_MS)} core ns a row for statistics and ${plain(rowMs('usage') * NANOS_PER_MS)} for
usage, in core ms. A query has up to ${ASSUMED.threads.value} threads, so where the cores are free the answer may be there in an eighth of it. The newest entries
do not grow. On the embedded engine a refresh of statistics computes only the buckets that events came to, which was 5.7 times less
([performance](performance.md#keeping-answers-warm)).`;

const LEFT_OUT = `## What the computation leaves out

- **Keys that pin no project**, in \`usage.api-counts\`: it matches addresses, so the index of every row of that week is looked at, on every shard:
  ${plain(unpinnedRowMs() * NANOS_PER_MS)} core ns a row, from the first line of [what was measured](#measured): what it costs more without a pin, over the rows of all four projects. At 1 T that is ${plain(1e12 * (7 / 90))} rows and ${plain((1e12 * (7 / 90) * unpinnedRowMs()) / 1000)} s of a core
  for one question. Pin keys to their project ([keys](keys.md)) long before that.
- The network between servers, and what a \`Distributed\` table adds. Other questions are of one project, and so of one shard.
- Keeper: three small machines, from two copies on.
- Backups, and the network that a lost copy takes when it is made anew: a full disk of 7 TB is 16 hours at 1 Gbit/s.
- Larger events: the disk goes by bytes. At ${MEASURED.jsonBytes.value.toLocaleString('en')} bytes of JSON it is ${MEASURED.diskBytes.value}, of logs that repeat themselves as these do; yours may be
  several times that. \`npm run bench -- disk\` is of sample logs: load a day of your own and look at the store's size.
- Many small requests: an event a request costs a request each ([performance](performance.md#taking-events-in)).`;

function measuredRows(): string[][] {
  return Object.values(MEASURED).map(({ what, value, unit, command }) => [
    what,
    `${value.toLocaleString('en')} ${unit}`,
    `\`${command}\``,
  ]);
}

function assumedRows(): string[][] {
  return Object.values(ASSUMED).map(({ what, value, unit }) => [what, show(value, unit)]);
}

function exampleRows(steps: readonly Step[]): string[][] {
  return steps.map(({ name, formula, numbers, value, unit }) => [name, formula, numbers, show(value, unit)]);
}

function scaleRows(computed: readonly (readonly Step[])[]): string[][] {
  const given = [
    ['projects', ...SCALES.map(({ projects }) => plain(projects))],
    ['requests', ...SCALES.map(({ requestsPerSecond }) => show(requestsPerSecond, 'a second'))],
  ];
  const [first = []] = computed;
  return [
    ...given,
    ...first.map(({ name, unit }, i) => [name, ...computed.map((steps) => show(steps[i]?.value ?? 0, unit))]),
  ];
}

function weekRows(): string[][] {
  return WEEKS.map(({ rows, stats, usage, unpinned, newest }) =>
    [rows, stats, usage, unpinned, newest].map(plain),
  );
}

function projectRows(): string[][] {
  return [...WEEKS.map(({ rows }) => rows), GROWN_ROWS].map((rows) =>
    [rows, rows / 7, weekMs('stats', rows), weekMs('usage', rows)].map(plain),
  );
}

function describe(index: number): string {
  const { name = '', projects = 0, requestsPerSecond = 0 } = SCALES[index] ?? {};
  return `${name} events of ${plain(projects)} projects, ${plain(requestsPerSecond)} requests a second`;
}

const CORES_SHOWN_MIN = 0.01;
const BYTES = ['bytes', 'KB', 'MB', 'GB', 'TB', 'PB'];

/** A number with its unit; bytes in a suitable decimal unit. */
function show(value: number, unit: string): string {
  if (unit === 'cores' && value < CORES_SHOWN_MIN) return `< ${CORES_SHOWN_MIN} cores`;
  const [, rest] = /^bytes(.*)$/.exec(unit) ?? [];
  if (rest === undefined) return `${plain(value)} ${unit}`.trimEnd();
  const step = Math.min(BYTES.length - 1, Math.max(0, Math.floor(Math.log10(Math.max(1, value)) / 3)));
  return `${plain(value / 1000 ** step)} ${BYTES[step]}${rest === '' ? '' : rest}`;
}
