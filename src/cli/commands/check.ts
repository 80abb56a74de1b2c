import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { Command } from 'commander';
import type { Config } from '../../config/config.ts';
import type { Fault } from '../../definitions/fault.ts';
import { type Definitions, readDefinitions, refuseFaults } from '../../definitions/read.ts';
import { applySchema } from '../../engine/schema.ts';
import { openEngine } from '../../open-store.ts';
import { verifyQueries } from '../../query/verify.ts';
import { readConfig } from '../environment.ts';

export function checkCommand(): Command {
  return new Command('check')
    .description('Check every definition; print all faults at once, with file and line.')
    .action(async () => {
      const config = readConfig();
      const { definitions, faults } = await readDefinitions(config);
      const inSources = faults.some((fault) => resolve(fault.file).startsWith(resolve(config.sourcesDir)));
      // Without all its tables the engine would call good SQL wrong.
      const inQueries = inSources ? [] : await verifyOnEmptyStore(config, definitions);
      refuseFaults([...faults, ...inQueries]);
      const { endpoints, sources } = definitions;
      process.stdout.write(`${endpoints.length} endpoints and ${sources.length} sources, no faults\n`);
    });
}

/** An engine of its own in a temporary folder, so that it works while a service owns the store. */
async function verifyOnEmptyStore(config: Config, definitions: Definitions): Promise<Fault[]> {
  const dataDir = await mkdtemp(join(tmpdir(), 'tailrace-check-'));
  try {
    const engine = await openEngine({ ...config, dataDir });
    try {
      await applySchema(engine, definitions.sources);
      return await verifyQueries(engine, definitions.endpoints);
    } finally {
      await engine.close();
    }
  } finally {
    await rm(dataDir, { recursive: true, force: true });
  }
}
