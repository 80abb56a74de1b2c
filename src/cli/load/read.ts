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
import type { BulkInput } from './input.ts';
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
