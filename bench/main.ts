import { Command, InvalidArgumentError } from 'commander';
import { printTable, type Row, say, writeJson } from './report.ts';
import { cachedSection } from './section/cached.ts';
import { coldSection } from './section/cold.ts';
import { floodSection } from './section/flood.ts';
import { fuzzSection } from './section/fuzz.ts';
import { ingestSection } from './section/ingest.ts';
import { keysSection } from './section/keys.ts';
import { killSection } from './section/kill.ts';
import { refreshSection } from './section/refresh.ts';
import { tenantsSection } from './section/tenants.ts';
import type { BenchOptions, Section } from './section.ts';

const SECTIONS: Readonly<Record<string, Section>> = {
  cached: cachedSection,
  cold: coldSection,
  refresh: refreshSection,
  ingest: ingestSection,
  kill: killSection,
  keys: keysSection,
  tenants: tenantsSection,
  flood: floodSection,
  fuzz: fuzzSection,
};

const names = Object.keys(SECTIONS).join(', ');
await new Command('bench')
  .description('The measurements of docs/performance.md, each on a store of its own in a temporary folder.')
  .argument('[sections...]', `which: ${names} (default: all)`)
  .option(
    '--only <names>',
    'measurements of a section, joined by commas, such as batches,reads',
    splitNames,
    [],
  )
  .option('--rows <n>', 'rows in the store that is asked while events come in', parseCount, 300_000)
  .option('--minutes <n>', 'how long the memory is watched', parseCount, 1)
  .option('--times <n>', 'how often the server is killed', parseCount, 10)
  .option('--seconds <n>', 'how long the service is flooded', parseCount, 60)
  .option('--requests <n>', 'requests by chance of the tenants', parseCount, 20_000)
  .option('--inputs <n>', 'how many random requests are sent', parseCount, 200_000)
  .option('--json <file>', 'write the results there, too')
  .action(run)
  .parseAsync();

async function run(given: string[], { json, ...options }: BenchOptions & { json?: string }): Promise<void> {
  const rows: Row[] = [];
  for (const name of given.length > 0 ? given : Object.keys(SECTIONS)) {
    const section = SECTIONS[name];
    if (section === undefined) throw new Error(`there is no section ${name}; there are ${names}`);
    say(`${name} begins`);
    rows.push(...(await section(options)));
  }
  printTable(rows);
  if (json !== undefined) writeJson(json, rows);
}

function splitNames(text: string): string[] {
  return text.split(',');
}

function parseCount(text: string): number {
  if (/^[1-9]\d{0,8}$/.test(text)) return Number(text);
  throw new InvalidArgumentError('It must be a whole number from 1.');
}
