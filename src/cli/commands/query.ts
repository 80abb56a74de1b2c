import Table from 'cli-table3';
import { Command, InvalidArgumentError } from 'commander';
import { InputError } from '../../errors.ts';
import { openStore } from '../../open-store.ts';
import { parseParameters } from '../../query/parameters.ts';
import { createRunner } from '../../query/run.ts';
import { createSandbox } from '../../query/sandbox/sandbox.ts';
import { ownerName, readConfig, stopSignal } from '../environment.ts';

type Pairs = Readonly<Record<string, string | readonly string[]>>;

export function queryCommand(): Command {
  return new Command('query')
    .description('Run an endpoint on the store, without HTTP and without the cache.')
    .argument('<endpoint>', 'UUID or name')
    .option('-p, --parameter <name=value>', 'a query parameter; may be given many times', collectPair, {})
    .option('--sql <select>', 'a SELECT over the views of an endpoint with query sandboxing')
    .option('--table', 'print a table instead of JSON')
    .action(run);
}

interface Options {
  readonly parameter: Pairs;
  readonly sql?: string;
  readonly table?: boolean;
}

async function run(idOrName: string, options: Options): Promise<void> {
  const config = readConfig();
  const store = await openStore(config, ownerName('query'));
  try {
    const stored = store.registry.getEndpoint(idOrName);
    if (options.sql !== undefined && !stored.sandboxing) {
      throw new InputError([
        `--sql needs an endpoint with query_sandboxing: true, which ${stored.name} does not have`,
      ]);
    }
    // As over HTTP, where `sql` is a parameter: so `-p sql=…` is not taken for an undeclared one.
    const raw = { ...options.parameter, ...(options.sql !== undefined && { sql: options.sql }) };
    const values = parseParameters(stored, raw, config.parameterBytesMax);
    const signal = stopSignal();
    const sandbox = createSandbox(store.engine, config);
    const endpoint = await sandbox(stored, raw, { signal });
    const answer = await createRunner(store.engine, Date.now)(endpoint, values, { signal });
    if (options.table === true)
      printTable(
        endpoint.columns.map((column) => column.name),
        answer.body,
      );
    else process.stdout.write(`${answer.body}\n`);
  } finally {
    await store.close();
  }
}

function printTable(columns: readonly string[], body: Buffer): void {
  const { result } = JSON.parse(body.toString()) as { result: Record<string, unknown>[] };
  // A caller's own SELECT declares none: they are those of its rows.
  const head = columns.length > 0 ? [...columns] : Object.keys(result[0] ?? {});
  const table = new Table({ head, style: { head: [], border: [] } });
  for (const row of result) table.push(head.map((column) => cell(row[column])));
  process.stdout.write(`${table}\n${result.length} rows\n`);
}

function cell(value: unknown): string {
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  return text.length > 80 ? `${text.slice(0, 79)}…` : text;
}

function collectPair(text: string, pairs: Pairs): Pairs {
  const at = text.indexOf('=');
  if (at < 1) throw new InvalidArgumentError('It must be name=value.');
  const name = text.slice(0, at);
  const value = text.slice(at + 1);
  const before = pairs[name];
  return { ...pairs, [name]: before === undefined ? value : [before, value].flat() };
}
