import { Command } from 'commander';
import { ATTACKS, RESUMPTIONS } from '../trial/attack/attack.ts';
import { type Choice, chooseSections, parseCount, parseCounts, splitNames } from './choice.ts';
import { describeSize, withGrowth } from './growth.ts';
import { settleLoad } from './machine/load-average.ts';
import { printTable, type Row, say, Unmeasured, unmeasuredRow, writeJson } from './report.ts';
import { parseRivals, RIVAL_NAMES, RIVALS_ROWS_MAX } from './rival/names.ts';
import { ALERT_MEASUREMENTS, alertsSection } from './section/alerts.ts';
import { attacksSection } from './section/attacks.ts';
import { cachedSection } from './section/cached.ts';
import { coldSection } from './section/cold.ts';
import { collapseSection } from './section/collapse.ts';
import { coresSection } from './section/cores.ts';
import { costSection } from './section/cost.ts';
import { deletionsSection } from './section/deletions.ts';
import { diskSection } from './section/disk.ts';
import { engineSection } from './section/engine.ts';
import { floodSection } from './section/flood.ts';
import { formatsSection } from './section/formats.ts';
import { FUZZ_MEASUREMENTS, fuzzSection } from './section/fuzz.ts';
import { guardSection } from './section/guard.ts';
import { INGEST_MEASUREMENTS, ingestSection } from './section/ingest.ts';
import { keysSection } from './section/keys.ts';
import { KILL_MEASUREMENTS, killSection } from './section/kill.ts';
import { listenersSection } from './section/listeners.ts';
import { pagesSection } from './section/pages.ts';
import { parseSection } from './section/parse.ts';
import { refreshSection } from './section/refresh.ts';
import { replicasSection } from './section/replicas.ts';
import { rivalsSection } from './section/rivals.ts';
import { rollupSection } from './section/rollup.ts';
import { SEARCH_MEASUREMENTS, searchSection } from './section/search.ts';
import { serverSection } from './section/server.ts';
import { sessionsSection } from './section/sessions.ts';
import { soakSection } from './section/soak.ts';
import { startSection } from './section/start.ts';
import { STUDIO_MEASUREMENTS, studioSection } from './section/studio.ts';
import { tailsSection } from './section/tails.ts';
import { tenantsSection } from './section/tenants.ts';
import type { BenchOptions, Section } from './section.ts';

/** Run on the stored data, once per size. */
const SIZED_SECTIONS: Readonly<Record<string, Section>> = {
  cold: coldSection,
  rivals: rivalsSection,
  collapse: collapseSection,
  start: startSection,
  disk: diskSection,
  soak: soakSection,
  cores: coresSection,
  studio: studioSection,
  search: searchSection,
};

/** Each runs on its own store in a temporary folder, with the first size if it uses rows. */
const SECTIONS: Readonly<Record<string, Section>> = {
  guard: guardSection,
  cached: cachedSection,
  sessions: sessionsSection,
  listeners: listenersSection,
  formats: formatsSection,
  cost: costSection,
  refresh: refreshSection,
  rollup: rollupSection,
  ingest: ingestSection,
  kill: killSection,
  deletions: deletionsSection,
  engine: engineSection,
  keys: keysSection,
  server: serverSection,
  replicas: replicasSection,
  pages: pagesSection,
  tails: tailsSection,
  tenants: tenantsSection,
  flood: floodSection,
  attacks: attacksSection,
  fuzz: fuzzSection,
  parse: parseSection,
  alerts: alertsSection,
};

const MEASUREMENTS = {
  ...Object.fromEntries(Object.keys({ ...SIZED_SECTIONS, ...SECTIONS }).map((name) => [name, []])),
  ingest: INGEST_MEASUREMENTS,
  attacks: [...ATTACKS, RESUMPTIONS],
  fuzz: FUZZ_MEASUREMENTS,
  kill: KILL_MEASUREMENTS,
  studio: STUDIO_MEASUREMENTS,
  search: SEARCH_MEASUREMENTS,
  alerts: ALERT_MEASUREMENTS,
};

interface Given extends Omit<BenchOptions, 'rows' | 'only'> {
  readonly rows: readonly number[];
  readonly only: readonly string[];
  readonly json?: string;
}

/** Sections so far. */
let begun = 0;

// Without a handler, cleanup on exit would not run.
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(1));

const names = Object.keys(MEASUREMENTS).join(', ');
const command = new Command('bench')
  .description('The measurements of docs/performance.md.')
  .argument('[sections...]', `which: ${names} (default: all)`)
  .option(
    '--only <names>',
    'of these or of a section, joined by commas, such as cold,batches',
    splitNames,
    [],
  )
  .option(
    '--rows <n,n>',
    'rows of the data, made once for each size and kept in the temporary folder',
    parseCounts,
    [1_000_000],
  )
  .option(
    '--rivals <names>',
    `of ${RIVAL_NAMES.join(', ')}, whatever the size (default: all, up to ${describeSize(RIVALS_ROWS_MAX)} rows)`,
    (text) => parseRivals(splitNames(text)),
  )
  .option('--minutes <n>', 'how long the memory is watched', parseCount, 1)
  .option('--times <n>', 'how often the server is killed, or attacked', parseCount, 10)
  .option('--seconds <n>', 'how long the service is flooded; cores: of each load, 10 at most', parseCount, 60)
  .option('--requests <n>', 'requests by chance of the tenants', parseCount, 20_000)
  .option('--inputs <n>', 'how many random requests are sent', parseCount, 200_000)
  .option('--save', 'guard: write the figures that later versions are compared with')
  .option('--json <file>', 'write the results there, too')
  .action(run);
await command.parseAsync();

async function run(given: readonly string[], { only, rows: sizes, json, ...rest }: Given): Promise<void> {
  const choices = choose(given, only);
  const perSize = [];
  for (const size of sizes) {
    perSize.push({ size, rows: await runAll(SIZED_SECTIONS, choices, { ...rest, rows: size }) });
  }
  const once = await runAll(SECTIONS, choices, { ...rest, rows: sizes[0] ?? 0 });
  const rows = [...withGrowth(perSize), ...once];
  printTable(rows);
  if (json !== undefined) writeJson(json, rows);
}

function choose(given: readonly string[], only: readonly string[]): Choice[] {
  try {
    return chooseSections(MEASUREMENTS, given, only);
  } catch (error) {
    return command.error(`error: ${(error as Error).message}`);
  }
}

async function runAll(
  sections: Readonly<Record<string, Section>>,
  choices: readonly Choice[],
  options: Omit<BenchOptions, 'only'>,
): Promise<Row[]> {
  const rows: Row[] = [];
  for (const { section: name, only } of choices) {
    const section = sections[name];
    if (section === undefined) continue;
    const load = await settleLoad(begun++ === 0);
    say(`${name} begins, ${describeSize(options.rows)} rows, load average ${load.toFixed(1)}`);
    const measured = await measure(name, () => section({ ...options, only }));
    rows.push(...measured.map((row) => ({ ...row, load })));
  }
  return rows;
}

/** What cannot be measured is a row, too, so that what was measured before it is reported. */
async function measure(name: string, section: () => Promise<Row[]>): Promise<Row[]> {
  try {
    return await section();
  } catch (error) {
    if (!(error instanceof Unmeasured)) throw error;
    return [unmeasuredRow(name, error.message)];
  }
}
