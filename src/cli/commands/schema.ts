import { Command, InvalidArgumentError } from 'commander';
import { parseCluster } from '../../config/url.ts';
import { refuseFaults } from '../../definitions/fault.ts';
import { readDefinitions } from '../../definitions/read.ts';
import { createView } from '../../engine/external.ts';
import { createTable } from '../../engine/table.ts';
import { messageOf } from '../../errors.ts';
import { readConfig } from '../environment.ts';

export function schemaCommand(): Command {
  return new Command('schema')
    .description('Print the statements that create the tables and views of the sources.')
    .requiredOption('--print', 'print, do not run; the service runs them at start')
    .option('--cluster <name>', 'for this cluster (default: TAILRACE_CLUSTER)', parseName)
    .action(print);
}

async function print({ cluster }: { cluster?: string }): Promise<void> {
  const config = readConfig();
  const { definitions, faults, sourcesAreWhole } = await readDefinitions(config);
  if (!sourcesAreWhole) refuseFaults(faults);
  const where = cluster ?? config.cluster;
  const statements = definitions.sources.flatMap((source) =>
    source.external === undefined ? createTable(source, where) : [createView(source, source.external, where)],
  );
  process.stdout.write(statements.map((sql) => `${sql};\n\n`).join(''));
}

function parseName(name: string): string {
  try {
    return parseCluster(name);
  } catch (error) {
    throw new InvalidArgumentError(`It ${messageOf(error)}.`);
  }
}
