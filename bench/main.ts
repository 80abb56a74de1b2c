import { loadavg } from 'node:os';
import { Argument, Command, InvalidArgumentError } from 'commander';
import { ATTACKS } from '../trial/attack/attack.ts';
import { type BenchOptions, printTable, type Row, type Section, say, Unmeasured } from './report.ts';
import { alertsSection } from './section/alerts.ts';
import { analysisSection } from './section/analysis.ts';
import { attacksSection } from './section/attacks.ts';
import { cachedSection } from './section/cached.ts';
import { guardSection } from './section/guard.ts';
import { INGEST_PARTS, ingestSection } from './section/ingest.ts';
import { KILL_PARTS, killSection } from './section/kill.ts';
import { RIVALS, readsSection } from './section/reads.ts';
import { reportSection } from './section/report.ts';
import { soakSection } from './section/soak.ts';
import { studioSection } from './section/studio.ts';
import { tenantsSection } from './section/tenants.ts';

interface Entry {
  readonly run: Section;
  /** What `--only` can choose of it. */
  readonly parts?: readonly string[];
}

const SECTIONS: Readonly<Record<string, Entry>> = {
  guard: { run: guardSection },
  ingest: { run: ingestSection, parts: INGEST_PARTS },
  report: { run: reportSection },
  reads: { run: readsSection, parts: Object.keys(RIVALS) },
  analysis: { run: analysisSection },
  cached: { run: cachedSection },
  studio: { run: studioSection },
  soak: { run: soakSection },
  kill: { run: killSection, parts: KILL_PARTS },
  alerts: { run: alertsSection },
  tenants: { run: tenantsSection },
  attacks: { run: attacksSection, parts: ATTACKS },
};
const PARTS = Object.values(SECTIONS).flatMap(({ parts = [] }) => parts);

// Without a handler, cleanup on exit would not run.
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(1));

await new Command('bench')
  .description('The measurements and trials of a release.')
  .addArgument(new Argument('[sections...]', 'default: all').choices(Object.keys(SECTIONS)))
  .option('--only <names>', `parts of sections, joined by commas: ${PARTS.join(', ')}`, parseParts, [])
  .option('--rows <n>', 'rows of the data, up to 100 million', parseCount, 1_000_000)
  .option('--minutes <n>', 'how long memory is sampled', parseCount, 1)
  .option('--times <n>', 'how often the server is killed, or attacked', parseCount, 10)
  .option('--requests <n>', 'random requests of the tenants', parseCount, 20_000)
  .option('--against <commit>', 'guard: the version to compare with; default: the newest release')
  .action(run)
  .parseAsync();

async function run(given: readonly string[], options: BenchOptions): Promise<void> {
  const rows: Row[] = [];
  for (const [name, { run: section, parts = [] }] of Object.entries(SECTIONS)) {
    const isGiven = given.length === 0 || given.includes(name);
    const isChosen = options.only.length === 0 || parts.some((part) => options.only.includes(part));
    if (!isGiven || !isChosen) continue;
    const load = loadavg()[0] ?? 0;
    say(`${name} begins, load average ${load.toFixed(1)}`);
    rows.push(...(await measure(name, () => section(options))).map((row) => ({ ...row, load })));
  }
  printTable(rows);
}

/** What cannot be measured is also a row, so that what was measured before it is reported. */
async function measure(name: string, section: () => Promise<Row[]>): Promise<Row[]> {
  try {
    return await section();
  } catch (error) {
    if (!(error instanceof Unmeasured)) throw error;
    return [{ name, unit: '', values: [], reason: error.message }];
  }
}

/** @throws InvalidArgumentError unless it is an integer from 1 to 999,999,999 */
function parseCount(text: string): number {
  if (/^[1-9]\d{0,8}$/.test(text)) return Number(text);
  throw new InvalidArgumentError('Send an integer from 1 to 999,999,999.');
}

function parseParts(text: string): string[] {
  const names = text.split(',');
  const unknown = names.filter((name) => !PARTS.includes(name));
  if (unknown.length === 0) return names;
  throw new InvalidArgumentError(`No section has ${unknown.join(', ')}; there are ${PARTS.join(', ')}.`);
}
