import { Command, Option } from 'commander';
import { SQL_PARAMETER } from '../../definitions/parameter.ts';
import { findNamed } from '../../definitions/registry.ts';
import { InputError, TailraceError } from '../../errors.ts';
import type { EndpointView } from '../../management/view.ts';
import { FORMATS, JSON_FORMAT, mediaTypeOf } from '../../query/format.ts';
import { describeUndeclared } from '../../query/parameters.ts';
import { stopSignal } from '../environment.ts';
import { formatCounted, formatTable, parsePair } from '../format.ts';
import { findService } from '../local-service.ts';
import { callRemote, fetchRemote, type Remote, type RemoteOptions } from '../remote.ts';

type Pairs = Readonly<Record<string, string | readonly string[]>>;

export function queryCommand(): Command {
  return new Command('query')
    .description('Run an endpoint of the service that runs in this folder.')
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

async function run(
  endpoint: string,
  { sql, parameter, table = false, format = JSON_FORMAT.name, ...options }: Options,
): Promise<void> {
  // As over HTTP, `sql` is a parameter: `-p sql=…` means the same as `--sql`.
  const raw = { ...parameter, ...(sql !== undefined && { sql }) };
  const service = await findService(options);
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(raw))
    for (const text of [value].flat()) query.append(name, text);
  const { bytes, mediaType, ignored } = await fetchRemote(
    service,
    `/api/endpoints/query/${encodeURIComponent(endpoint)}?${query}`,
    { accept: mediaTypeOf(FORMATS.find(({ name }) => name === format) ?? JSON_FORMAT), signal: stopSignal() },
  );
  if (ignored.length > 0) rejectIgnored(endpoint, ignored, await findKnown(service, endpoint));
  const isJson = mediaType === mediaTypeOf(JSON_FORMAT);
  if (table && !isJson) throw new InputError(['--table needs an answer in JSON; leave -p format out']);
  if (table) printTable(bytes);
  else process.stdout.write(isJson ? `${bytes}\n` : bytes);
}

async function findKnown(remote: Remote, idOrName: string): Promise<string[]> {
  const { result } = (await callRemote(remote, '/api/endpoints')) as { result: EndpointView[] };
  return findNamed(result, idOrName)?.parameters.map(({ name }) => name) ?? [];
}

/**
 * Rejects what the endpoint ignores: a mistyped parameter would give an unfiltered answer, and a SELECT that of the
 * stored query.
 */
function rejectIgnored(endpoint: string, names: readonly string[], known: readonly string[]): void {
  if (names.includes(SQL_PARAMETER))
    throw new InputError([
      `--sql needs an endpoint with query_sandboxing: true, which ${endpoint} does not have`,
    ]);
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
