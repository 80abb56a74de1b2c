import { Command, Option } from 'commander';
import type { Config } from '../../config/config.ts';
import { SQL_PARAMETER } from '../../definitions/parameter.ts';
import { InputError, TailraceError } from '../../errors.ts';
import type { EndpointView } from '../../management/view.ts';
import { FORMATS, type Format, findNamedFormat, JSON_FORMAT, mediaTypeOf } from '../../query/format.ts';
import {
  describeUndeclared,
  findUndeclared,
  listKnown,
  parseParameters,
  type RawParameters,
} from '../../query/parameters.ts';
import { createQuestion } from '../../query/question.ts';
import { createRunner } from '../../query/run.ts';
import { createSandbox } from '../../sandbox/sandbox.ts';
import { openCore } from '../../service/open-core.ts';
import { ownerName, stopSignal } from '../environment.ts';
import { formatCounted, formatTable, parsePair } from '../format.ts';
import { findService, readStoreConfig } from '../local-service.ts';
import { callRemote, fetchRemote, type Remote, type RemoteOptions } from '../remote.ts';

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

interface Answer {
  readonly body: Buffer;
  readonly isJson: boolean;
}

interface Question {
  readonly endpoint: string;
  readonly raw: RawParameters;
  /** `undefined`: JSON, unless a parameter `format` names another. */
  readonly format: Format | undefined;
}

async function run(endpoint: string, { sql, parameter, table, ...options }: Options): Promise<void> {
  // As over HTTP, `sql` is a parameter: `-p sql=…` means the same as `--sql`.
  const raw = { ...parameter, ...(sql !== undefined && { sql }) };
  const format = FORMATS.find(({ name }) => name === options.format);
  const config = readStoreConfig();
  const remote = findService(config, options);
  const question = { endpoint, raw, format };
  const { body, isJson } = await (remote === undefined
    ? queryStore(config, question, stopSignal())
    : queryService(remote, question, stopSignal()));
  if (table === true && !isJson)
    throw new InputError(['--table needs an answer in JSON; leave -p format out']);
  if (table === true) printTable(body);
  else process.stdout.write(isJson ? `${body}\n` : body);
}

async function queryStore(config: Config, question: Question, signal: AbortSignal): Promise<Answer> {
  const { raw } = question;
  await using cleanup = new AsyncDisposableStack();
  const core = await openCore(config, ownerName('query'));
  cleanup.defer(core.close);
  const stored = core.registry.getEndpoint(question.endpoint);
  const known = listKnown(stored);
  rejectUnknown(stored.name, findUndeclared(known, raw), known);
  const values = parseParameters(stored, raw);
  const endpoint = await createSandbox(core.engine)(stored, raw, { signal });
  const format = question.format ?? findNamedFormat(stored, raw) ?? JSON_FORMAT;
  const { body } = await createRunner(core.engine, Date.now)(createQuestion(endpoint, values, format), {
    signal,
  });
  return { body, isJson: format === JSON_FORMAT };
}

async function queryService(
  remote: Remote,
  { endpoint, raw, format = JSON_FORMAT }: Question,
  signal: AbortSignal,
): Promise<Answer> {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(raw))
    for (const text of [value ?? []].flat()) query.append(name, text);
  const path = `/api/endpoints/query/${encodeURIComponent(endpoint)}?${query}`;
  const { bytes, mediaType, ignored } = await fetchRemote(remote, path, {
    accept: mediaTypeOf(format),
    signal,
  });
  if (ignored.length > 0) rejectUnknown(endpoint, ignored, await findKnown(remote, endpoint, signal));
  return { body: bytes, isJson: mediaType === mediaTypeOf(JSON_FORMAT) };
}

async function findKnown(remote: Remote, idOrName: string, signal: AbortSignal): Promise<string[]> {
  const { result } = (await callRemote(remote, '/api/endpoints', { signal })) as { result: EndpointView[] };
  const endpoint = result.find(({ id, name }) => name === idOrName || id === idOrName.toLowerCase());
  return endpoint?.parameters.map(({ name }) => name) ?? [];
}

/**
 * Rejects what the endpoint ignores: a mistyped parameter would give an unfiltered answer, and a SELECT that of the
 * stored query.
 */
function rejectUnknown(endpoint: string, names: readonly string[], known: readonly string[]): void {
  if (names.includes(SQL_PARAMETER))
    throw new InputError([
      `--sql needs an endpoint with query_sandboxing: true, which ${endpoint} does not have`,
    ]);
  if (names.length === 0) return;
  const errors = describeUndeclared(names, known);
  const lines = errors.map(
    ({ parameter, message }) => `parameter ${JSON.stringify(parameter)} of ${endpoint} ${message}`,
  );
  throw new TailraceError('invalid_parameter', lines.join('; '), { errors });
}

function printTable(body: Buffer): void {
  const { result } = JSON.parse(body.toString()) as { result: Record<string, unknown>[] };
  const head = Object.keys(result[0] ?? {});
  const rows = result.map((row) => head.map((column) => formatCell(row[column])));
  if (rows.length > 0) process.stdout.write(`${formatTable(head, rows)}\n`);
  process.stdout.write(`${formatCounted(rows.length, 'row')}\n`);
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
