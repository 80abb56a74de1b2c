import { ASSUMED, BENCH, COST, MEASURED, SCALES, WEEKS } from './capacity-figures.ts';
import { calculate, plain, rowMs, type Step, unpinnedRowMs, weekMs } from './capacity-model.ts';
import { page, table } from './page.ts';

const GROWN_ROWS = 1e8;
const NANOS_PER_MS = 1e6;

/** docs/capacity.md: the model with its arithmetic, so that neither can change without the other. */
export function capacityPage(): string {
  const calculated = SCALES.map(calculate);
  return page(
    'Capacity',
    `Calculate servers, replicas, memory and disk from a million events to a trillion. To use your own assumptions, change
scripts/docs/capacity-figures.ts and run \`npm run docs\`. [Scaling](scaling.md#when-to-move) says when to leave the embedded engine.`,
    [
      `## Measured\n\n${MEASURED_ON}\n\n${measuredList()}\n\n${WEEKS_MEASURED}\n\n${table(['Rows a week', 'statistics', 'usage, pinned', 'usage, not pinned', 'newest 100'], weekRows())}`,
      `## Assumed\n\nNot measured; replace these by your own.\n\n${assumedList()}`,
      `## Calculated\n\n${table(['', ...SCALES.map(({ name }) => `${name} events`)], scaleRows(calculated))}`,
      READING,
      `## One project that grows\n\n${PROJECT}`,
      MORE_CORES,
      LEFT_OUT,
    ].join('\n\n'),
  );
}

const MEASURED_ON = `On 2 cores and 24 GiB, shared with other work, with the embedded engine; nothing was measured on a ClickHouse server. Core time is
that of all threads of the process. In brackets: the arguments of \`npm run bench --\`, or a command.`;

const READING = `- **Up to 100 M** the embedded engine suffices (measured on two cores); two replicas and a server are for availability.
- **At 10 G** one server suffices; its copy is for its failure.
- **At 1 T** the disk decides: 30 days of retention need a third of the servers. The newest entries need most of the cores.`;

const WEEKS_MEASURED = `Core ms of queries over a week (\`functions.invocation-stats\` 7day, \`usage.api-counts\` daily, \`logs.all\`), by the rows of the project in that week
(\`${COST}\`); pinned: with a key that pins the project.`;

const PROJECT = `On the line through the least and most rows measured, a row costs ${plain(rowMs('stats') * NANOS_PER_MS)} core ns for statistics and ${plain(rowMs('usage') * NANOS_PER_MS)} for usage: ${plain(GROWN_ROWS)} rows
a week, ${plain(weekMs('stats', GROWN_ROWS))} and ${plain(weekMs('usage', GROWN_ROWS))} core ms. A query uses up to ${ASSUMED.threads.value} threads, so with free cores it may take an eighth of that time. The newest
entries do not grow. On the embedded engine an incremental refresh of statistics costs a part of that (\`npm run bench -- refresh\`).`;

const MORE_CORES = `## More cores

Readers, merge threads and memory [follow the cores](settings.md) of the machine, up to 16 readers. Measure what further cores are worth to you with
\`npm run bench -- cores\`: it restricts the service to 1, 2, 4 and more of your cores, and reckons up to 16 with a model (marked as reckoned), with what
bounds the rate there: cores, event loop or readers. If the event loop does, start [a second process](scaling.md) instead.`;

const LEFT_OUT = `## Not included

- **\`usage.api-counts\` with keys that pin no project:** it matches URLs, so each query reads the index of all rows of the week, on every shard:
  ${plain(unpinnedRowMs() * NANOS_PER_MS)} core ns a row (the difference in the first line [above](#measured), over all four projects). At 1 T that is ${plain((1e12 * (7 / 90) * unpinnedRowMs()) / 1000)} s of a core per
  query: [pin keys](keys.md#pinned-values).
- The network between servers, and the overhead of \`Distributed\` tables. Other queries read one project, and so one shard.
- Keeper: three small machines, from two copies on.
- Backups, and replacing a lost copy: 7 TB take 16 hours at 1 Gbit/s.
- Larger events: ${MEASURED.jsonBytes.value.toLocaleString('en')} bytes of repetitive JSON take ${MEASURED.diskBytes.value} on disk; yours may take several times that. Load a
  day of your own logs to see.
- [Requests with one event](performance.md#one-process-embedded-engine), which cost more.`;

function measuredList(): string {
  return Object.values(MEASURED)
    .map(
      ({ what, value, unit, command }) =>
        `- ${what}: ${value.toLocaleString('en')} ${unit} (\`${command.replace(BENCH, '')}\`)`,
    )
    .join('\n');
}

function assumedList(): string {
  return Object.values(ASSUMED)
    .map(({ what, value, unit }) => `- ${what}: ${show(value, unit)}`)
    .join('\n');
}

function scaleRows(calculated: readonly (readonly Step[])[]): string[][] {
  const [first = []] = calculated;
  return [
    ['projects', ...SCALES.map(({ projects }) => plain(projects))],
    ['requests (/s)', ...SCALES.map(({ requestsPerSecond }) => plain(requestsPerSecond))],
    ...first.map(({ name, formula, unit }, i) => {
      const stated = unit.replace(/^(bytes|cores|rows) ?/, '').replace('a second', '/s');
      const label = stated === '' ? name : `${name} (${stated})`;
      return [`${label}: ${formula}`, ...calculated.map((steps) => showStep(steps[i]))];
    }),
  ];
}

/** Without what its row says: the unit, but for that of bytes. */
function showStep(step: Step | undefined): string {
  const { value = 0, unit = '' } = step ?? {};
  if (unit === 'cores' && value < CORES_SHOWN_MIN) return `< ${CORES_SHOWN_MIN}`;
  return show(value, unit.startsWith('bytes') ? 'bytes' : '');
}

function weekRows(): string[][] {
  return WEEKS.map(({ rows, stats, usage, unpinned, newest }) =>
    [rows, stats, usage, unpinned, newest].map(plain),
  );
}

const CORES_SHOWN_MIN = 0.01;
const BYTES = ['bytes', 'KB', 'MB', 'GB', 'TB', 'PB'];

/** With its unit; bytes in the decimal unit that fits. */
function show(value: number, unit: string): string {
  if (unit !== 'bytes') return `${plain(value)} ${unit}`.trimEnd();
  const step = Math.min(BYTES.length - 1, Math.max(0, Math.floor(Math.log10(Math.max(1, value)) / 3)));
  return `${plain(value / 1000 ** step)} ${BYTES[step]}`;
}
