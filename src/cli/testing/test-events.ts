import { readFile, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { Readable } from 'node:stream';
import { gunzipSync } from 'node:zlib';
import type { Registry } from '../../definitions/registry.ts';
import { isManaged, type Source } from '../../definitions/source.ts';
import { type Fault, messageOf } from '../../errors.ts';
import { type Event, parseEvent } from '../../ingest/event.ts';
import { createFilterCounts, findFilter } from '../../ingest/filter/filter.ts';
import { RejectedEvent } from '../../ingest/read-event.ts';
import { findBelow, OutsideError } from '../../lib/file.ts';
import { MICROS_PER_MS } from '../../lib/instant.ts';
import { readLines } from '../load/lines.ts';
import { isMap, type Row } from './test-case.ts';
import type { TestFile } from './test-file.ts';

/** The events of a test file, ready to be stored. */
export type TestEvents = ReadonlyMap<Source, readonly Event[]>;

export interface EventOptions {
  readonly registry: Registry;
  readonly report: (fault: Fault) => void;
}

/** Parses one event; `undefined` if a rule of its source leaves it out. @throws RejectedEvent */
type Parse = (text: string) => Event | undefined;

// All events are in memory before the first test runs.
const FILE_BYTES_MAX = 16 * 1024 * 1024;

/** Reads the events of a test file by the rules of ingest. Each event that the service would reject is a fault. */
export async function readTestEvents(test: TestFile, options: EventOptions): Promise<TestEvents> {
  const { registry, report } = options;
  const read = new Map<Source, readonly Event[]>();
  for (const [name, given] of Object.entries(test.events)) {
    const fault = (message: string, ...at: number[]) =>
      report(test.yaml.fault(['events', name, ...at], message));
    const source = findSource(registry, name, fault);
    if (source === undefined) continue;
    const rules = { now: test.nowMs * MICROS_PER_MS, project: '' };
    const filter = findFilter(source);
    const parse: Parse = (text) => {
      const event = parseEvent({ text }, source, rules);
      return filter === undefined ? event : filter(event, createFilterCounts());
    };
    const own = Array.isArray(given)
      ? readList(given, parse, fault)
      : await readLinesOf(given, parse, { folder: dirname(test.file), fault, ...options });
    read.set(source, [...(read.get(source) ?? []), ...own]); // a file may name it twice: by its UUID, too
  }
  return read;
}

function findSource(
  { sources, findSource }: Registry,
  name: string,
  fault: (message: string) => void,
): Source | undefined {
  const source = findSource(name);
  if (source !== undefined && isManaged(source)) return source;
  const known = sources.filter(isManaged).map((one) => one.name);
  fault(
    source === undefined
      ? `no source is called ${JSON.stringify(name)}; there are ${known.join(', ')}`
      : `${name} reads an existing table (managed: false), so it stores no events`,
  );
  return undefined;
}

function readList(
  given: readonly unknown[],
  parse: Parse,
  fault: (message: string, at: number) => void,
): Event[] {
  return given.flatMap((one, i) => {
    const reject = (reason: string) => fault(`event ${i + 1} ${reason}`, i);
    return parseOr(reject, () => parse(toJson(one))) ?? [];
  });
}

/** Returns what `read` does; `undefined` if it throws a RejectedEvent, whose reason is reported. */
function parseOr<T>(reject: (reason: string) => void, read: () => T): T | undefined {
  try {
    return read();
  } catch (error) {
    if (!(error instanceof RejectedEvent)) throw error;
    reject(error.message);
    return undefined;
  }
}

interface FileOptions extends EventOptions {
  /** The folder of the test. */
  readonly folder: string;
  readonly fault: (message: string) => void;
}

/** Reads the NDJSON of `{ file: events.ndjson }` as `tailrace load` does. */
async function readLinesOf(given: unknown, parse: Parse, options: FileOptions): Promise<Event[]> {
  const { report, folder, fault } = options;
  const map: Row = isMap(given) ? given : {};
  const { file: name, ...others } = map;
  if (typeof name !== 'string' || Object.keys(others).length > 0) {
    fault('a source has a list of events, or a map with the file that has them: { file: events.ndjson }');
    return [];
  }
  const file = join(folder, name);
  const bytes = await readBytes(folder, name);
  if (typeof bytes === 'string') {
    fault(`file ${JSON.stringify(name)} ${bytes}`);
    return [];
  }
  const events: Event[] = [];
  for await (const line of readLines(Readable.from([bytes]))) {
    const reject = (reason: string) => report({ file, line: line.number, message: `event ${reason}` });
    if (line.isRepaired === true) reject('has bytes that are not UTF-8');
    const event = parseOr(reject, () => {
      if (line.fault !== undefined) throw new RejectedEvent(line.fault);
      return parse(line.text);
    });
    if (event !== undefined) events.push(event);
  }
  return events;
}

/** @returns why it cannot be read; `undefined` if it can */
async function readBytes(folder: string, name: string): Promise<Buffer | string> {
  try {
    const file = await findBelow(folder, name);
    const { size } = await stat(file);
    if (size > FILE_BYTES_MAX) return `is ${size} bytes; it may have ${FILE_BYTES_MAX}`;
    const bytes = await readFile(file);
    return file.endsWith('.gz') ? gunzipSync(bytes, { maxOutputLength: FILE_BYTES_MAX }) : bytes;
  } catch (error) {
    if (error instanceof OutsideError)
      return 'must be in the folder of the test, and not a link that leads out';
    return `cannot be read: ${messageOf(error)}`;
  }
}

// Part of Node 24, but not of TypeScript's libraries yet: a number of any size, as it is written.
const { rawJSON } = JSON as typeof JSON & { readonly rawJSON: (text: string) => unknown };

/** @throws RejectedEvent if it has a number that JSON cannot write: JSON.stringify would write null */
function toJson(event: unknown): string {
  return JSON.stringify(event, (_, value: unknown) => {
    if (typeof value === 'bigint') return rawJSON(String(value));
    if (typeof value !== 'number' || Number.isFinite(value)) return value;
    throw new RejectedEvent(`has the number ${value}, which JSON cannot hold`);
  });
}
