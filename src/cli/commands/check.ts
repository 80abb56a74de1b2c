import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Command } from 'commander';
import { describeShipped } from '../../definitions/folders.ts';
import { readDefinitions } from '../../definitions/read.ts';
import { openEngine, prepare } from '../../open-store.ts';
import { readConfig } from '../environment.ts';

export function checkCommand(): Command {
  return new Command('check')
    .description('Check every definition; print all faults at once, with file and line.')
    .action(check);
}

async function check(): Promise<void> {
  const config = readConfig();
  const reading = await readDefinitions(config);
  for (const line of describeShipped(reading.folders)) process.stderr.write(`tailrace: ${line}\n`);
  // An engine of its own in a temporary folder, so that it works while a service owns the store, and makes no table on a server.
  const dataDir = await mkdtemp(join(tmpdir(), 'tailrace-check-'));
  try {
    const engine = await openEngine({ ...config, dataDir, clickhouseUrl: '' });
    const { endpoints, sources } = await prepare(engine, reading, false).finally(engine.close);
    for (const { name, external } of sources) {
      if (external === undefined) continue;
      process.stderr.write(
        `${name}: ${external.table} is not here; the service looks at its columns when it starts\n`,
      );
    }
    process.stdout.write(`${endpoints.length} endpoints and ${sources.length} sources, no faults\n`);
  } finally {
    await rm(dataDir, { recursive: true, force: true });
  }
}
