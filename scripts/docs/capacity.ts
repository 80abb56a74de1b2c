import { ASSUMED, MEASURED, SCALES } from './capacity-figures.ts';
import { calculate, plain, rowMs, type Step, unpinnedRowMs, weekMs } from './capacity-model.ts';
import { page, table } from './page.ts';

const GROWN_ROWS = 1e8;
const NANOS_PER_MS = 1e6;

/** docs/capacity.md: what capacity-model.ts calculates from capacity-figures.ts. */
export function capacityPage(): string {
  const calculated = SCALES.map(calculate);
  return page(
    'Capacity',
    `Calculate servers, replicas, memory and disk from a million events to a trillion. What an event and a query cost was
measured on 2 cores with the embedded engine, not on a ClickHouse server: scripts/docs/capacity-figures.ts has the figures and their commands,
capacity-model.ts the arithmetic. To use your own, change them and run \`npm run docs\`. [Scaling](scaling.md#when-to-move) says when to leave
the embedded engine.`,
    [
      `## Assumed\n\nNot measured; replace these by your own.\n\n${assumedList()}`,
      `## Calculated\n\n${table(['', ...SCALES.map(({ name }) => `${name} events`)], scaleRows(calculated))}`,
      `${READING}\n${smallStores(calculated)}`,
      `## One project that grows\n\n${PROJECT}`,
      LEFT_OUT,
    ].join('\n\n'),
  );
}

/** Small figures of the largest scale, which are not worth a row of the table. */
function smallStores(calculated: readonly (readonly Step[])[]): string {
  const of = (name: string) => showStep(calculated.at(-1)?.find((step) => step.name === name));
  return `- **PostgreSQL and Redis stay small:** at 1 T ${of('PostgreSQL, disk')} and ${of('PostgreSQL, queries')} queries a second; ${of('Redis, memory')} and ${of('Redis, commands')} commands a second.`;
}

const READING = `- **Up to 100 M** the embedded engine suffices (measured on two cores); two replicas and a server are for availability.
- **At 10 G** one server suffices; its copy is for its failure.
- **At 1 T** the disk decides: 30 days of retention need a third of the servers. The newest entries need most of the cores.`;

const PROJECT = `A row costs ${plain(rowMs('stats') * NANOS_PER_MS)} core ns for statistics and ${plain(rowMs('usage') * NANOS_PER_MS)} for usage: ${plain(GROWN_ROWS)} rows a week cost ${plain(weekMs('stats', GROWN_ROWS))} and
${plain(weekMs('usage', GROWN_ROWS))} core ms. A query uses up to ${ASSUMED.threads.value} threads. The newest entries do not grow.`;

const LEFT_OUT = `## Not included

- **\`usage.api-counts\` with keys that pin no project:** each query reads the index of all rows of the week, on every shard:
  ${plain(unpinnedRowMs() * NANOS_PER_MS)} core ns a row. At 1 T that is ${plain((1e12 * (7 / 90) * unpinnedRowMs()) / 1000)} s of a core per query: [pin keys](keys.md#pinned-values).
- The network between servers, the overhead of \`Distributed\` tables, backups, and a Keeper: three small machines, from two copies on.
- Larger events: ${MEASURED.jsonBytes.value.toLocaleString('en')} bytes of repetitive JSON take ${MEASURED.diskBytes.value} on disk; yours may take several times that.
- [Requests with one event](performance.md#one-process-embedded-engine), which cost more.`;

function assumedList(): string {
  return Object.values(ASSUMED)
    .map(({ what, value, unit }) => `- ${what}: ${show(value, unit)}`)
    .join('\n');
}

function scaleRows(calculated: readonly (readonly Step[])[]): string[][] {
  const [first = []] = calculated;
  const shown = first.flatMap((step, i) => (/^(?:PostgreSQL|Redis), /.test(step.name) ? [] : [{ step, i }]));
  return [
    ['projects', ...SCALES.map(({ projects }) => plain(projects))],
    ['requests (/s)', ...SCALES.map(({ requestsPerSecond }) => plain(requestsPerSecond))],
    ...shown.map(({ step: { name, unit }, i }) => {
      const stated = unit.replace(/^(bytes|cores|rows) ?/, '').replace('a second', '/s');
      const label = stated === '' ? name : `${name} (${stated})`;
      return [label, ...calculated.map((steps) => showStep(steps[i]))];
    }),
  ];
}

/** Without what its row says: the unit, but for that of bytes. */
function showStep(step: Step | undefined): string {
  const { value = 0, unit = '' } = step ?? {};
  if (unit === 'cores' && value < CORES_SHOWN_MIN) return `< ${CORES_SHOWN_MIN}`;
  return show(value, unit.startsWith('bytes') ? 'bytes' : '');
}

const CORES_SHOWN_MIN = 0.01;
const BYTES = ['bytes', 'KB', 'MB', 'GB', 'TB', 'PB'];

/** With its unit; bytes in the decimal unit that fits. */
function show(value: number, unit: string): string {
  if (unit !== 'bytes') return `${plain(value)} ${unit}`.trimEnd();
  const step = Math.min(BYTES.length - 1, Math.max(0, Math.floor(Math.log10(Math.max(1, value)) / 3)));
  return `${plain(value / 1000 ** step)} ${BYTES[step]}`;
}
