import { Command, Option } from 'commander';
import type { Config } from '../../config/config.ts';
import { InputError } from '../../errors.ts';
import { FORMATS, findNamedFormat, JSON_FORMAT } from '../../query/format.ts';
import { findUndeclared, listKnown, parseParameters } from '../../query/parameters.ts';
import { createQuestion } from '../../query/question.ts';
import { createRunner } from '../../query/run.ts';
import { createSandbox } from '../../sandbox/sandbox.ts';
import { openCore } from '../../service/open-core.ts';
import { ownerName, stopSignal } from '../environment.ts';
import { findService, readStoreConfig } from '../find-store.ts';
import { formatCounted, formatTable } from '../format.ts';
import { parsePair } from '../options.ts';
import {
  findRemoteEndpoint,
  queryRemote,
  type Remote,
  type RemoteAnswer,
  type RemoteOptions,
  refuseIgnored,
  refuseUnknown,
} from '../remote.ts';

type Pairs = Readonly<Record<string, string | readonly string[]>>;

export function queryCommand(): Command {
  return new Command('query')
    .description('Run an endpoint: in the service that runs in this folder; without one on the store.')
    .argument('<endpoint>', 'UUID or name')
    .option('-p, --parameter <name=value>', 'a parameter; repeatable', collectPair)
    .option('--sql <select>', 'a SELECT over the views of an endpoint with query sandboxing')
    .addOption(
      new Option('--format <name>', 'format of the answer (default: json)').choices(
        FORMATS.map(({ name }) => name),
      ),
    )
    .addOption(new Option('--table', 'print a table').conflicts('format'))
    .option('--key <key>', 'key with scope query for the service (default: TAILRACE_KEY)')
    .action(run);
}

interface Options extends Pick<RemoteOptions, 'key'> {
  readonly parameter?: Pairs;
  readonly sql?: string;
  readonly format?: string;
  readonly table?: boolean;
}

interface Asked {
  readonly endpoint: string;
  readonly raw: Pairs;
}

interface Result extends Omit<RemoteAnswer, 'ignored'> {
  /** Names of the declared columns; empty for a caller's own SELECT. */
  readonly columns: readonly string[];
}

async function run(idOrName: string, options: Options): Promise<void> {
  const { sql, parameter, table } = options;
  // As over HTTP, `sql` is a parameter: `-p sql=…` means the same as `--sql`.
  const raw = { ...parameter, ...(sql !== undefined && { sql }) };
  const config = readStoreConfig();
  const remote = findService(config, options);
  const { body, format, columns } = await (remote === undefined
    ? queryStore(config, { endpoint: idOrName, raw }, options)
    : queryService(remote, { endpoint: idOrName, raw }, options));
  if (table === true && format !== JSON_FORMAT)
    throw new InputError([`--table needs an answer in JSON, not in ${format.name}; leave -p format out`]);
  if (table === true) printTable(columns, body);
  else if (format === JSON_FORMAT) process.stdout.write(`${body}\n`);
  else process.stdout.write(body);
}

function findFormat({ format }: Options) {
  return FORMATS.find(({ name }) => name === format);
}

async function queryStore(
  config: Config,
  { endpoint: idOrName, raw }: Asked,
  options: Options,
): Promise<Result> {
  const { sql } = options;
  await using cleanup = new AsyncDisposableStack();
  const core = await openCore(config, ownerName('query'));
  cleanup.defer(core.close);
  const stored = core.registry.getEndpoint(idOrName);
  if (sql !== undefined && !stored.sandboxing) throw notSandboxed(stored);
  const known = listKnown(stored);
  refuseUnknown(stored.name, findUndeclared(known, raw), known);
  const values = parseParameters(stored, raw);
  const signal = stopSignal();
  const sandbox = createSandbox(core.engine);
  const endpoint = await sandbox(stored, raw, { signal });
  const run = createRunner(core.engine, Date.now);
  const format = findFormat(options) ?? findNamedFormat(stored, raw) ?? JSON_FORMAT;
  const { body } = await run(createQuestion(endpoint, values, format), { signal });
  return { body, format, columns: endpoint.columns.map(({ name }) => name) };
}

async function queryService(remote: Remote, question: Asked, options: Options): Promise<Result> {
  const { sql, table } = options;
  const signal = stopSignal();
  // An endpoint without sandboxing would ignore `sql` and run its stored query instead.
  const endpoint =
    sql === undefined && table !== true
      ? undefined
      : await findRemoteEndpoint(remote, question.endpoint, signal);
  if (sql !== undefined && endpoint?.query_sandboxing === false) throw notSandboxed(endpoint);
  const format = findFormat(options) ?? JSON_FORMAT;
  const answer = await queryRemote(remote, { ...question, format }, signal);
  await refuseIgnored(remote, question.endpoint, { ignored: answer.ignored, signal });
  const isOwnSelect = endpoint?.query_sandboxing === true && Object.hasOwn(question.raw, 'sql');
  return { ...answer, columns: isOwnSelect ? [] : (endpoint?.columns ?? []).map(({ name }) => name) };
}

function notSandboxed({ name }: { readonly name: string }): InputError {
  return new InputError([`--sql needs an endpoint with query_sandboxing: true, which ${name} does not have`]);
}

function printTable(columns: readonly string[], body: Buffer): void {
  const { result } = JSON.parse(body.toString()) as { result: Record<string, unknown>[] };
  // A caller's own SELECT declares no columns: take those of its rows.
  const head = columns.length > 0 ? [...columns] : Object.keys(result[0] ?? {});
  const rows = result.map((row) => head.map((column) => formatCell(row[column])));
  process.stdout.write(`${formatTable(head, rows)}\n${formatCounted(result.length, 'row')}\n`);
}

function formatCell(value: unknown): string {
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  return text.length > 80 ? `${text.slice(0, 79)}…` : text;
}

function collectPair(text: string, pairs: Pairs = {}): Pairs {
  const [name, value] = parsePair(text);
  const before = pairs[name];
  return { ...pairs, [name]: before === undefined ? value : [before, value].flat() };
}
