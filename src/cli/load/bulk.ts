import { type ChildProcess, execFile, fork, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { extname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { parseRows } from '../../engine/values.ts';
import { InputError } from '../../errors.ts';
import { type Sql, sql } from '../../sql/sql.ts';
import { type Column, type Mapping, writeEvent } from './mapping.ts';

/** A statement for the reading process. */
export interface BulkRequest {
  readonly statement: string;
}

/** Its rows as JSON, or the engine's message. */
export type BulkReply = { readonly text: string } | { readonly failure: string };

/** An input as lines of NDJSON, in the same order each time it is read. */
export interface BulkReader {
  /** Rows in all; 0 if that is unknown before they are read. */
  readonly rows: number;
  /** @throws InputError with the engine's message */
  readonly bytes: AsyncIterable<Buffer>;
  close(): Promise<void>;
}

// One thread, so that rows come in the order of the file; and values as JSON has them.
const SETTINGS = `max_threads = 1, input_format_parallel_parsing = 0, input_format_parquet_preserve_order = 1,
  input_format_csv_use_best_effort_in_schema_inference = 0, input_format_csv_allow_variable_number_of_columns = 1,
  input_format_tsv_use_best_effort_in_schema_inference = 0, input_format_tsv_allow_variable_number_of_columns = 1,
  date_time_output_format = 'iso', output_format_json_quote_64bit_integers = 0, session_timezone = 'UTC',
  max_http_get_redirects = 10`;

/**
 * Opens an input in a separate process, which ends with `close`, or with this one.
 *
 * @param signal ends the process
 * @throws InputError if it cannot be read, or the mapping does not fit
 */
export async function openBulk(input: BulkInput, mapping: Mapping, signal: AbortSignal): Promise<BulkReader> {
  const folder = await mkdtemp(join(tmpdir(), 'tailrace-load-'));
  const child = fork(
    fileURLToPath(new URL(`./process${extname(import.meta.url)}`, import.meta.url)),
    [folder],
    {
      stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
      serialization: 'advanced',
    },
  );
  const end = () => child.kill('SIGKILL');
  signal.addEventListener('abort', end, { once: true });
  const close = async () => {
    signal.removeEventListener('abort', end);
    if (child.exitCode === null && child.signalCode === null) {
      const exited = once(child, 'exit');
      end();
      await exited;
    }
    await rm(folder, { recursive: true, force: true });
  };
  const ask = (statement: Sql) => request(child, { statement: `${statement} SETTINGS ${SETTINGS}` }, input);
  try {
    const { format, from, isLocal } = input;
    const columns = format.hasColumns ? readColumns(await ask(sql`DESCRIBE TABLE ${from}`)) : [];
    const event = format.hasColumns ? writeEvent(columns, { mapping, isText: format.isText }) : sql`line`;
    // Counting reads no row of a local Parquet file, and all of any other.
    const isCounted = isLocal && format.engine === 'Parquet';
    const rows = isCounted
      ? Number(readRows(await ask(sql`SELECT count() AS rows FROM ${from}`))[0]?.['rows'])
      : 0;
    const pipe = join(folder, 'rows');
    await run('mkfifo', [pipe]); // which Node cannot do; its own pipes are sockets, which the engine cannot open
    const stream = sql`INSERT INTO FUNCTION file(${pipe}, TSVRaw, 'line String') SELECT ${event} FROM ${from}`;
    return { rows, bytes: streamRows(pipe, () => ask(stream)), close };
  } catch (error) {
    await close();
    throw error;
  }
}

const readRows = (text: string) => parseRows(Buffer.from(text));
const readColumns = (text: string): Column[] =>
  readRows(text).map(({ name, type }) => ({ name: String(name), type: String(type) }));

const run = promisify(execFile);

async function* streamRows(pipe: string, start: () => Promise<string>): AsyncGenerator<Buffer> {
  const reader = spawn('cat', [pipe], { stdio: ['ignore', 'pipe', 'inherit'] });
  const done = start();
  // It may have failed before it opened the pipe, which the reader would then wait for.
  done.catch(() => reader.kill());
  try {
    for await (const chunk of reader.stdout) yield chunk;
    await done;
  } finally {
    reader.kill();
  }
}

function request(child: ChildProcess, message: BulkRequest, { name }: BulkInput): Promise<string> {
  return new Promise((resolve, reject) => {
    const fail = (why: string) => reject(new InputError([`${name}: cannot be read: ${why}`]));
    const onExit = (code: number | null, signal: string | null) =>
      fail(`the reading process ended with ${signal ?? `exit code ${code}`}`);
    child.once('exit', onExit);
    child.once('message', (reply: BulkReply) => {
      child.off('exit', onExit);
      if ('failure' in reply) fail(describeFailure(reply.failure));
      else resolve(reply.text);
    });
    child.send(message);
  });
}

const SIGNED = /(AWS_\w+|X-Amz-[\w-]+|Signature|Credential)\s*[=:]\s*\S+/gi;

/** Shortens the engine's message to what it says about the file: the rest is about the engine itself. */
function describeFailure(message: string): string {
  const lines = message
    .replace(/^Query failed: /, '')
    .replaceAll(SIGNED, '$1=…')
    .split('\n');
  const text = lines
    .map((line) => line.replace(/^Code: \d+\. DB::\w*Exception: /, '').replace(/ \(version [^)]*\)\.?/, ''))
    .join(' ');
  return text
    .replaceAll(/\s+/g, ' ')
    .replace(/\.? You can specify the structure manually.*$/, '')
    .trim()
    .slice(0, 500);
}

/** How a file is read by the engine. */
export interface BulkFormat {
  /** The engine's name of it. */
  readonly engine: string;
  /** Whether its columns have names; else each line is an event's JSON. */
  readonly hasColumns: boolean;
  /** Whether every value of its columns is read as a text. */
  readonly isText: boolean;
  readonly endings: readonly string[];
}

/** The formats of `tailrace load`. */
export const BULK_FORMATS: Readonly<Record<string, BulkFormat>> = {
  parquet: { engine: 'Parquet', hasColumns: true, isText: false, endings: ['parquet'] },
  csv: { engine: 'CSVWithNames', hasColumns: true, isText: true, endings: ['csv'] },
  tsv: { engine: 'TSVWithNames', hasColumns: true, isText: true, endings: ['tsv'] },
  ndjson: {
    engine: 'LineAsString',
    hasColumns: false,
    isText: false,
    endings: ['ndjson', 'jsonl', 'json', 'log'],
  },
};

/** A file that the engine reads, in a process of the command. */
export interface BulkInput {
  readonly name: string;
  readonly format: BulkFormat;
  /** The engine's table function. It may hold a secret. */
  readonly from: Sql;
  /** Whether it is on this machine. */
  readonly isLocal: boolean;
}

type Environment = Readonly<Record<string, string | undefined>>;

// Compression by which a name may end after its format's ending; Parquet compresses within.
const COMPRESSED = /\.(gz|zst|br|xz|lz4|bz2)$/;

/**
 * Finds out whether the engine has to read an input: one with columns, or one that is not on this machine.
 *
 * @param name of a file, `http://…`, `https://…` or `s3://bucket/key`, in which `*` stands for any text
 * @param formatName of `--format`; by the name's ending if `undefined`
 * @param environment credentials and address of S3, in the variables of AWS
 * @returns `undefined` for a local file of lines, which needs no engine
 * @throws InputError
 */
export function readInput(
  name: string,
  formatName: string | undefined,
  environment: Environment,
): BulkInput | undefined {
  const scheme = /^([a-z][a-z0-9+.-]*):\/\//i.exec(name)?.[1]?.toLowerCase();
  const format = findFormat(name, formatName);
  if (scheme === undefined) {
    if (name === '-' || !format.hasColumns) return undefined;
    return { name, format, isLocal: true, from: sql`file(${name}, ${format.engine})` };
  }
  if (scheme === 'http' || scheme === 'https')
    return { name, format, isLocal: false, from: writeUrl(name, format) };
  if (scheme === 's3') return { name, format, isLocal: false, from: writeS3(name, format, environment) };
  throw new InputError([
    `${name}: cannot be read from ${scheme}://; name a file, or an address with http://, https:// or s3://`,
  ]);
}

function findFormat(name: string, formatName: string | undefined): BulkFormat {
  if (formatName !== undefined) {
    const found = Object.hasOwn(BULK_FORMATS, formatName) ? BULK_FORMATS[formatName] : undefined;
    if (found === undefined)
      throw new InputError([`--format must be one of ${Object.keys(BULK_FORMATS).join(', ')}`]);
    return found;
  }
  const path = name
    .replace(/[?#].*$/, '')
    .toLowerCase()
    .replace(COMPRESSED, '');
  const byName = Object.values(BULK_FORMATS).find(({ endings }) =>
    endings.some((ending) => path.endsWith(`.${ending}`)),
  );
  return byName ?? (BULK_FORMATS['ndjson'] as BulkFormat); // it is in the table
}

/** Lines need no schema to be found. */
const columnsOf = ({ hasColumns }: BulkFormat): readonly string[] => (hasColumns ? [] : ['line String']);

function writeUrl(url: string, format: BulkFormat): Sql {
  if (!URL.canParse(url)) throw new InputError([`${url}: is not a URL`]);
  return sql`url(${[url, format.engine, ...columnsOf(format)]})`;
}

function writeS3(name: string, format: BulkFormat, environment: Environment): Sql {
  const [, bucket = '', key = ''] = /^s3:\/\/([^/]+)\/(.+)$/i.exec(name) ?? [];
  if (bucket === '')
    throw new InputError([`${name}: write s3://<bucket>/<key>, such as s3://logs/2026/*.parquet`]);
  const region = environment['AWS_REGION'] || environment['AWS_DEFAULT_REGION'] || 'us-east-1';
  const endpoint =
    environment['AWS_ENDPOINT_URL_S3'] ||
    environment['AWS_ENDPOINT_URL'] ||
    `https://s3.${region}.amazonaws.com`;
  if (!/^https?:\/\//.test(endpoint) || !URL.canParse(endpoint))
    throw new InputError([
      'AWS_ENDPOINT_URL must be the address of the storage, such as ' +
        `https://s3.eu-central-1.amazonaws.com, not ${JSON.stringify(endpoint)}`,
    ]);
  const url = `${endpoint.replace(/\/+$/, '')}/${bucket}/${key}`;
  const {
    AWS_ACCESS_KEY_ID: id = '',
    AWS_SECRET_ACCESS_KEY: secret = '',
    AWS_SESSION_TOKEN: token = '',
  } = environment;
  const rest = [format.engine, ...columnsOf(format)];
  if (id === '' && secret === '') return sql`s3(${url}, NOSIGN, ${rest})`;
  if (id === '' || secret === '')
    throw new InputError([
      `${name}: set both AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or neither for a public bucket`,
    ]);
  return sql`s3(${[url, id, secret, ...(token === '' ? [] : [token]), ...rest]})`;
}
