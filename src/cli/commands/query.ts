import Table from 'cli-table3';
import { Command, InvalidArgumentError } from 'commander';
import { InputError } from '../../errors.ts';
import { openStore } from '../../open-store.ts';
import { parseParameters } from '../../query/parameters.ts';
import { createQuestion } from '../../query/question.ts';
import { createRunner } from '../../query/run.ts';
import { createSandbox } from '../../query/sandbox/sandbox.ts';
import { ownerName, readConfig, stopSignal } from '../environment.ts';
import { addRemoteOptions, findRemote, type Remote, type RemoteOptions } from '../remote.ts';
import { findRemoteEndpoint, queryRemote } from '../remote-query.ts';

type Pairs = Readonly<Record<string, string | readonly string[]>>;

export function queryCommand(): Command {
  const command = new Command('query')
    .description('Run an endpoint on the store, without HTTP and without the cache.')
    .argument('<endpoint>', 'UUID or name')
    .option('-p, --parameter <name=value>', 'a query parameter; may be given many times', collectPair, {})
    .option('--sql <select>', 'a SELECT over the views of an endpoint with query sandboxing')
    .option('--table', 'print a table instead of JSON');
  const about = 'ask a running service, through its cache, instead of opening the store';
  return addRemoteOptions(command, about, 'query').action(run);
}

interface Options extends RemoteOptions {
  readonly parameter: Pairs;
  readonly sql?: string;
  readonly table?: boolean;
}

interface Result {
  /** `{"result":[…]}` */
  readonly body: Buffer;
  /** Names of the declared columns; none of a caller's own SELECT. */
  readonly columns: readonly string[];
}

async function run(idOrName: string, options: Options): Promise<void> {
  const { sql, parameter, table } = options;
  // As over HTTP, where `sql` is a parameter: so `-p sql=…` is not taken for an undeclared one.
  const raw = { ...parameter, ...(sql !== undefined && { sql }) };
  const remote = findRemote(options);
  const { body, columns } = await (remote === undefined
    ? askStore(idOrName, raw, options)
    : askService(remote, { endpoint: idOrName, raw }, options));
  if (table === true) printTable(columns, body);
  else process.stdout.write(`${body}\n`);
}

async function askStore(idOrName: string, raw: Pairs, { sql }: Options): Promise<Result> {
  const config = readConfig();
  const store = await openStore(config, ownerName('query'));
  try {
    const stored = store.registry.getEndpoint(idOrName);
    if (sql !== undefined && !stored.sandboxing) throw notSandboxed(stored);
    const values = parseParameters(stored, raw, config.parameterBytesMax);
    const signal = stopSignal();
    const sandbox = createSandbox(store.engine, config);
    const endpoint = await sandbox(stored, raw, { signal });
    const run = createRunner(store.engine, Date.now);
    const { body } = await run(createQuestion(endpoint, values), { signal });
    return { body, columns: endpoint.columns.map(({ name }) => name) };
  } finally {
    await store.close();
  }
}

async function askService(
  remote: Remote,
  question: { readonly endpoint: string; readonly raw: Pairs },
  { sql, table }: Options,
): Promise<Result> {
  const signal = stopSignal();
  // Without it the service would take `sql` for a parameter that nobody declared, and answer something else.
  const endpoint =
    sql === undefined && table !== true
      ? undefined
      : await findRemoteEndpoint(remote, question.endpoint, signal);
  if (sql !== undefined && endpoint?.query_sandboxing === false) throw notSandboxed(endpoint);
  const body = await queryRemote(remote, question, signal);
  const isOwnSelect = endpoint?.query_sandboxing === true && Object.hasOwn(question.raw, 'sql');
  return { body, columns: isOwnSelect ? [] : (endpoint?.columns ?? []).map(({ name }) => name) };
}

function notSandboxed({ name }: { readonly name: string }): InputError {
  return new InputError([`--sql needs an endpoint with query_sandboxing: true, which ${name} does not have`]);
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
