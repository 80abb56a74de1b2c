import { LEVELS, levelOfSeverity, NUMBERS_PER_LEVEL } from '../../definitions/level.ts';
import {
  type DecodedEvent,
  type NestedValue,
  PLAIN_KEY_CHARS_MAX,
  toWireEvent,
  type WireEvent,
} from '../body-format.ts';

/** 64-bit integers are texts or numbers in JSON, objects of protobufjs otherwise; ids texts or bytes. */
export interface LogRecord {
  readonly timeUnixNano?: unknown;
  readonly observedTimeUnixNano?: unknown;
  readonly severityNumber?: number | string;
  readonly severityText?: string;
  readonly body?: AnyValue | null;
  readonly attributes?: readonly KeyValue[];
  readonly flags?: number | string;
  readonly traceId?: string | Uint8Array;
  readonly spanId?: string | Uint8Array;
  readonly eventName?: string;
}

interface InstrumentationScope {
  readonly name?: string;
  readonly version?: string;
  readonly attributes?: readonly KeyValue[];
}

/** An ExportLogsServiceRequest in its JSON shape, whose records may have to be read yet. */
export interface OtlpRequest<T> {
  readonly resourceLogs?: readonly {
    readonly resource?: Pick<InstrumentationScope, 'attributes'>;
    readonly scopeLogs?: readonly {
      readonly scope?: InstrumentationScope;
      readonly logRecords?: readonly T[];
    }[];
  }[];
}

/** The attribute of a record, or of its resource, that names its project. */
const PROJECT_ATTRIBUTE = 'tailrace.project';

/** What the records of one scope have in common: written once, since a body may hold many of both. */
interface Surroundings extends Readonly<Record<'resource' | 'scope', Attributes>> {
  readonly project: string | undefined;
  readonly json: string;
}

export function countRecords({ resourceLogs = [] }: OtlpRequest<unknown>): number {
  const scopes = resourceLogs.flatMap(({ scopeLogs = [] }) => scopeLogs);
  return scopes.reduce((sum, { logRecords = [] }) => sum + logRecords.length, 0);
}

/** @param read reads a record when it is its turn */
export function* otlpEvents<T>(
  { resourceLogs = [] }: OtlpRequest<T>,
  read: (record: T) => LogRecord,
): Generator<WireEvent> {
  for (const { resource: sender, scopeLogs = [] } of resourceLogs) {
    const resource = writeAttributes(sender?.attributes);
    const project = findText(resource.list, PROJECT_ATTRIBUTE);
    const labels = Object.fromEntries(resource.list.map(({ key, value }) => [key, value?.['stringValue']]));
    for (const { scope: library, logRecords = [] } of scopeLogs) {
      const scope = writeAttributes(scopeMembers(library));
      const json = `"resource":${resource.json},"scope":${scope.json}`;
      const surroundings = { project, resource, scope, json };
      for (const one of logRecords) yield { ...toEvent(read(one), surroundings), labels };
    }
  }
}

function scopeMembers({ name, version, attributes = [] }: InstrumentationScope = {}): KeyValue[] {
  const texts = Object.entries({ name, version }).filter(([, value]) => value !== undefined && value !== '');
  const members = texts.map(([key, stringValue]): KeyValue => ({ key, value: { stringValue } }));
  const nested = { key: 'attributes', value: { kvlistValue: { values: attributes } } };
  return attributes.length === 0 ? members : [...members, nested];
}

/** Writes one record as an event; docs/ingest.md has the table of members. */
function toEvent(record: LogRecord, surroundings: Surroundings) {
  const { resource, scope } = surroundings;
  const attributes = writeAttributes(record.attributes);
  const severity = severityNumber(record.severityNumber);
  const own: Readonly<Record<string, string | number | undefined>> = {
    level: levelOfSeverity(record.severityText ?? '', severity) || undefined,
    severity_text: record.severityText || undefined,
    severity_number: severity || undefined,
    trace_id: hex(record.traceId) || undefined,
    span_id: hex(record.spanId) || undefined,
    flags: Number(record.flags ?? 0) || undefined,
    event_name: record.eventName || undefined,
  };
  const ownJson = JSON.stringify(own).slice(1, -1);
  const between = ownJson === '' ? '' : ',';
  const project = findText(record.attributes, PROJECT_ATTRIBUTE) ?? surroundings.project;
  const ofBody = { isPlain: true };
  const body = anyValueText(record.body, ofBody);
  const members = {
    timestamp: firstTime(record.timeUnixNano, record.observedTimeUnixNano),
    project: text(project),
    event_message: body === 'null' ? text(record.eventName) : body,
    metadata: `{${ownJson}${between}"attributes":${attributes.json},${surroundings.json}}`,
  };
  const parts: Readonly<Record<string, Attributes>> = { attributes, resource, scope };
  const decoded: DecodedEvent = {
    members: Object.entries(members).filter((member): member is [string, string] => member[1] !== undefined),
    find(path) {
      const name = path[1] ?? '';
      const part = Object.hasOwn(parts, name) ? parts[name] : undefined;
      if (part !== undefined) return path.length === 2 ? part : findIn(part.list, path, 2);
      return path.length === 2 && Object.hasOwn(own, name) ? own[name] : undefined;
    },
  };
  return toWireEvent(
    decoded,
    [ofBody, attributes, resource, scope].every(({ isPlain }) => isPlain),
  );
}

/** Zero is "unknown". Padded to 18 digits: the event rules read nanoseconds, and reject what is not a number. */
function firstTime(...times: unknown[]): string | undefined {
  const known = times.map((time) => String(time ?? '')).find((time) => !/^0*$/.test(time));
  return text(known?.padStart(18, '0'));
}

const HEX = /^(?:[0-9a-f]{32}|[0-9a-f]{16})$/i;

/** Writes an id in lower case. Some senders of JSON write it in base64 (otlp.ts). */
function hex(id: string | Uint8Array = ''): string {
  if (typeof id !== 'string') return Buffer.from(id).toString('hex');
  return HEX.test(id) ? id.toLowerCase() : Buffer.from(id, 'base64').toString('hex');
}

/** Writes the JSON text of a string; `undefined` for a missing or empty one, which OTLP does not distinguish. */
function text(value: string | undefined): string | undefined {
  return value === undefined || value === '' ? undefined : JSON.stringify(value);
}

type AnyValue = Readonly<Record<string, unknown>>;

interface KeyValue {
  readonly key?: string;
  readonly value?: AnyValue | null;
}

/** Whether a text is plain (see `toWireEvent`), which is found out while it is written. */
interface Plainness {
  isPlain: boolean;
}

/** Attributes as one JSON object, in their order. */
interface Attributes extends NestedValue, Plainness {
  readonly list: readonly KeyValue[];
}

const PLAIN_DEPTH_MAX = 50;

function writeAttributes(list: readonly KeyValue[] = []): Attributes {
  const written = { isPlain: true };
  return { list, json: attributesText(list, written), ...written };
}

// Deeper than the event rules allow: what is cut off here belongs to an event that they reject, with the reason.
const DEPTH_MAX = 100;

/** Writes an AnyValue that `checkRequest` accepts as JSON text, exactly: a 64-bit integer keeps all its digits. */
function anyValueText(
  value: AnyValue | null | undefined,
  written: Plainness = { isPlain: true },
  depth = 0,
): string {
  if (depth > PLAIN_DEPTH_MAX) written.isPlain = false;
  if (depth > DEPTH_MAX || value === undefined || value === null) return 'null';
  if (value['stringValue'] !== undefined) return JSON.stringify(value['stringValue']);
  if (value['boolValue'] !== undefined) return JSON.stringify(value['boolValue']);
  if (value['intValue'] !== undefined) return String(value['intValue']);
  // JSON cannot write NaN and the infinities; OTLP's JSON writes them as texts, and so do we.
  if (value['doubleValue'] !== undefined) return doubleText(value['doubleValue']);
  const bytes = value['bytesValue'];
  if (bytes !== undefined)
    return JSON.stringify(bytes instanceof Uint8Array ? Buffer.from(bytes).toString('base64') : bytes);
  if (value['arrayValue'] !== undefined) {
    const items = listOf<AnyValue>(value['arrayValue']).map((item) => anyValueText(item, written, depth + 1));
    return `[${items.join(',')}]`;
  }
  if (value['kvlistValue'] !== undefined)
    return attributesText(listOf<KeyValue>(value['kvlistValue']), written, depth + 1);
  return 'null';
}

function attributesText(list: readonly KeyValue[], written: Plainness, depth = 0): string {
  const names = new Set<string>();
  let members = '';
  for (const { key = '', value } of list) {
    if (key.length > PLAIN_KEY_CHARS_MAX) written.isPlain = false;
    members += `${names.size === 0 ? '' : ','}${JSON.stringify(key)}:${anyValueText(value, written, depth)}`;
    names.add(key);
  }
  if (names.size < list.length) written.isPlain = false;
  return `{${members}}`;
}

/** Finds the value at a path, of which the names from `index` on are left; see `DecodedEvent`. */
function findIn(list: readonly KeyValue[], path: readonly string[], index: number): unknown {
  const value = list.findLast(({ key = '' }) => key === path[index])?.value ?? undefined;
  if (value === undefined) return undefined;
  const nested = value['kvlistValue'];
  if (path.length > index + 1) return nested && findIn(listOf(nested), path, index + 1);
  const json = anyValueText(value);
  return /^[[{]/.test(json) ? { json } : (JSON.parse(json) as unknown);
}

/** Returns the text of an attribute, unless it is empty. */
function findText(list: readonly KeyValue[] | undefined, name: string): string | undefined {
  const value = list?.findLast(({ key }) => key === name)?.value?.['stringValue'];
  return typeof value === 'string' && value !== '' ? value : undefined;
}

function listOf<T>(value: unknown): readonly T[] {
  return (value as { values?: readonly T[] }).values ?? []; // an ArrayValue or KeyValueList: see `checkRequest`
}

function doubleText(value: unknown): string {
  const double = Number(value);
  return JSON.stringify(Number.isFinite(double) ? double : String(value));
}

export const SEVERITY_NAME = /^SEVERITY_NUMBER_(?:UNSPECIFIED|(TRACE|DEBUG|INFO|WARN|ERROR|FATAL)([234]?))$/;

/** Reads a severity number, which may be written by its name; 0 if unspecified. */
function severityNumber(value: string | number = 0): number {
  const [all, name = '', step] = SEVERITY_NAME.exec(String(value)) ?? [];
  if (all === undefined) return Number(value);
  const names: readonly string[] = LEVELS;
  return name === '' ? 0 : names.indexOf(name.toLowerCase()) * NUMBERS_PER_LEVEL + Number(step || 1);
}
