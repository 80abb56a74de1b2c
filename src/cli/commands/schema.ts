import { Argument, Command, InvalidArgumentError } from 'commander';
import { findServerAddress } from '../../config/clickhouse.ts';
import { parseCluster } from '../../config/url.ts';
import { refuseFaults } from '../../definitions/fault.ts';
import { readDefinitions } from '../../definitions/read.ts';
import { createView } from '../../engine/external.ts';
import { createTable } from '../../engine/table.ts';
import { messageOf } from '../../errors.ts';
import { readConfig } from '../environment.ts';
import { FILE_SCHEMAS } from '../file-schemas.ts';

export function schemaCommand(): Command {
  return new Command('schema')
    .description(
      'Print the JSON Schema of a kind of file, or the statements that create the tables and views of the sources.',
    )
    .addArgument(new Argument('[kind]', 'print the JSON Schema of this kind of file').choices(KINDS))
    .option('--print', 'print the statements without running them; the service runs them at start')
    .option('--cluster <name>', 'for this cluster (default: that of CLICKHOUSE_URL)', parseName)
    .action(print);
}

const KINDS = Object.keys(FILE_SCHEMAS);

interface Options {
  readonly print?: boolean;
  readonly cluster?: string;
}

async function print(
  kind: keyof typeof FILE_SCHEMAS | undefined,
  options: Options,
  command: Command,
): Promise<void> {
  if (kind === undefined && options.print !== true)
    command.error(`error: name what to print: ${KINDS.join(', ')}, or --print for the tables`);
  if (kind === undefined) await printStatements(options);
  else process.stdout.write(`${JSON.stringify(FILE_SCHEMAS[kind](), undefined, 2)}\n`);
}

async function printStatements({ cluster }: Options): Promise<void> {
  const config = readConfig();
  const { definitions, faults, sourcesAreWhole } = await readDefinitions(config);
  if (!sourcesAreWhole) refuseFaults(faults);
  const where = cluster ?? findServerAddress(config)?.cluster ?? '';
  const statements = definitions.sources.flatMap((source) =>
    source.external === undefined ? createTable(source, where) : [createView(source, source.external, where)],
  );
  process.stdout.write(statements.map(({ text }) => `${text};\n\n`).join(''));
}

function parseName(name: string): string {
  try {
    return parseCluster(name);
  } catch (error) {
    throw new InvalidArgumentError(`It ${messageOf(error)}.`);
  }
}
