import { Command } from 'commander';
import type { Config } from '../../config/config.ts';
import { describeFolders } from '../../definitions/folders.ts';
import { type Definitions, type LoadResult, readDefinitions } from '../../definitions/read.ts';
import type { Source } from '../../definitions/source.ts';
import type { Engine } from '../../engine/engine.ts';
import { findSchemaFaults } from '../../engine/schema.ts';
import { readStoredTables } from '../../engine/store-file.ts';
import { formatFault, InputError } from '../../errors.ts';
import { prepare } from '../../service/open-core.ts';
import { createOperatorFiles, NO_RECEIVERS_FILE } from '../../service/operator-files.ts';
import { findMissing } from '../../verify/dashboards.ts';
import { formatCounted, joinWords } from '../format.ts';
import { findStore } from '../local-service.ts';
import { openTemporaryEngine } from './test.ts';

export function checkCommand(): Command {
  return new Command('check')
    .description('Check every definition; print all faults with file and line.')
    .action(check);
}

async function check(): Promise<void> {
  const config = findStore();
  const reading = await readDefinitions(config);
  for (const line of describeFolders(reading.folders)) process.stderr.write(`tailrace: ${line}\n`);
  for (const warning of reading.warnings) warn(formatFault(warning));
  await using cleanup = new AsyncDisposableStack();
  const engine = await openTemporaryEngine(config);
  cleanup.defer(engine.close);
  const { endpoints, sources, alerts, dashboards, searches } = await checkAll(engine, reading, config);
  for (const { name, external } of sources) {
    if (external === undefined) continue;
    warn(`${name}: ${external.table} is not checked; the service checks its columns when it starts`);
  }
  for (const warning of findMissing(dashboards, endpoints)) warn(formatFault(warning));
  if (alerts.length > 0 && config.receiversFile === '') warn(NO_RECEIVERS_FILE);
  const counts = [formatCounted(endpoints.length, 'endpoint'), formatCounted(sources.length, 'source')];
  if (alerts.length > 0) counts.push(formatCounted(alerts.length, 'alert'));
  if (dashboards.length > 0) counts.push(formatCounted(dashboards.length, 'dashboard'));
  if (searches.length > 0) counts.push(formatCounted(searches.length, 'saved search', 'saved searches'));
  process.stdout.write(`${joinWords(counts)}, no faults\n`);
}

/** @throws InputError with every fault: of the files, also that of the receivers, and of the stored tables */
async function checkAll(engine: Engine, reading: LoadResult, config: Config): Promise<Definitions> {
  const { definitions, sourcesAreWhole } = reading;
  const changes = sourcesAreWhole ? await findForbiddenChanges(engine, definitions.sources, config) : [];
  try {
    const { faults: others } = await createOperatorFiles(config, process.env).read(definitions);
    const prepared = await prepare(engine, reading, { hasExternal: false, others });
    if (changes.length === 0) return prepared;
  } catch (error) {
    if (error instanceof InputError) throw new InputError([...error.faults, ...changes], { cause: error });
    throw error;
  }
  throw new InputError(changes);
}

/** Finds the changes that the stored tables do not allow, which the service would reject at its next start or reload. */
async function findForbiddenChanges(
  engine: Engine,
  sources: readonly Source[],
  { clickhouseUrl, dataDir }: Config,
): Promise<string[]> {
  if (clickhouseUrl === '') return await findSchemaFaults(engine, sources, readStoredTables(dataDir));
  warn('the sources were not compared with the tables of the server; the service does so when it starts');
  return [];
}

function warn(message: string): void {
  process.stderr.write(`warning: ${message}\n`);
}
