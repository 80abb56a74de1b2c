import { LEVELS, levelOfSeverity, NUMBERS_PER_LEVEL } from '../../definitions/level.ts';
import type { WireEvent } from '../body-format.ts';

interface LogRecord {
  readonly timeUnixNano?: string | number;
  readonly observedTimeUnixNano?: string | number;
  readonly severityNumber?: number | string;
  readonly severityText?: string;
  readonly body?: Readonly<Record<string, unknown>>;
  readonly attributes?: readonly KeyValue[];
  readonly flags?: number | string;
  readonly traceId?: string;
  readonly spanId?: string;
  readonly eventName?: string;
}

interface InstrumentationScope {
  readonly name?: string;
  readonly version?: string;
  readonly attributes?: readonly KeyValue[];
}

/** An ExportLogsServiceRequest in its JSON shape. */
export interface OtlpRequest {
  readonly resourceLogs?: readonly {
    readonly resource?: { readonly attributes?: readonly KeyValue[] };
    readonly scopeLogs?: readonly {
      readonly scope?: InstrumentationScope;
      readonly logRecords?: readonly LogRecord[];
    }[];
  }[];
}

/** The attribute of a record, or of its resource, that names its project. */
const PROJECT_ATTRIBUTE = 'tailrace.project';

/** Writes each record of an OTLP request as an event. */
export function* otlpEvents(request: OtlpRequest): Generator<WireEvent> {
  for (const { record, surroundings } of findRecords(request))
    yield { text: eventText(record, surroundings), labels: surroundings.labels };
}

/** What the records of one scope have in common, as JSON text: written once, since a body may hold many of both. */
interface Surroundings {
  readonly project: string | undefined;
  readonly resource: string;
  /** The attributes of the resource, which `accepts` may name. */
  readonly labels: Readonly<Record<string, unknown>>;
  readonly scope: string;
}

function* findRecords({ resourceLogs = [] }: OtlpRequest) {
  for (const { resource, scopeLogs = [] } of resourceLogs) {
    const project = findText(resource?.attributes, PROJECT_ATTRIBUTE);
    const resourceText = attributesText(resource?.attributes);
    const labels = labelsOf(resource?.attributes);
    for (const { scope, logRecords = [] } of scopeLogs) {
      const surroundings = { project, labels, resource: resourceText, scope: scopeText(scope) };
      for (const record of logRecords) yield { record, surroundings };
    }
  }
}

function labelsOf(attributes: readonly KeyValue[] = []): Surroundings['labels'] {
  return Object.fromEntries(attributes.map(({ key, value }) => [key, value?.['stringValue']]));
}

/** Writes one record as an event; docs/ingest.md has the table of members. */
function eventText(record: LogRecord, { project: fallback, scope, resource }: Surroundings): string {
  const project = findText(record.attributes, PROJECT_ATTRIBUTE) ?? fallback;
  const time = firstTime(record.timeUnixNano, record.observedTimeUnixNano);
  const body = anyValueText(record.body);
  const severity = severityNumber(record.severityNumber);
  const flags = Number(record.flags ?? 0);
  const metadata = members([
    ['level', text(levelOfSeverity(record.severityText ?? '', severity))],
    ['severity_text', text(record.severityText)],
    ['severity_number', severity === 0 ? undefined : String(severity)],
    ['trace_id', text(hex(record.traceId))],
    ['span_id', text(hex(record.spanId))],
    ['flags', flags === 0 ? undefined : String(flags)],
    ['event_name', text(record.eventName)],
    ['attributes', attributesText(record.attributes)],
    ['resource', resource],
    ['scope', scope],
  ]);
  return members([
    ['timestamp', time],
    ['project', text(project)],
    ['event_message', body === 'null' ? text(record.eventName) : body],
    ['metadata', metadata],
  ]);
}

function scopeText(scope: InstrumentationScope | undefined): string {
  const attributes = scope?.attributes === undefined ? undefined : attributesText(scope.attributes);
  return members([
    ['name', text(scope?.name)],
    ['version', text(scope?.version)],
    ['attributes', attributes],
  ]);
}

/**
 * Zero means "unknown" in OTLP. Padded to 18 digits, so that the event rules read nanoseconds; they reject what is not
 * a number.
 */
function firstTime(...times: (string | number | undefined)[]): string | undefined {
  const known = times.find((time) => !/^0*$/.test(String(time ?? '')));
  return text(known === undefined ? undefined : String(known).padStart(18, '0'));
}

const HEX = /^(?:[0-9a-f]{32}|[0-9a-f]{16})$/i;

/** Writes an id in lower case. Protobuf's bytes come as base64, and so do those of some senders of JSON (check.ts). */
function hex(id = ''): string {
  return HEX.test(id) ? id.toLowerCase() : Buffer.from(id, 'base64').toString('hex');
}

/** Writes the JSON text of a string; `undefined` for a missing or empty one, which OTLP does not distinguish. */
function text(value: string | undefined): string | undefined {
  return value === undefined || value === '' ? undefined : JSON.stringify(value);
}

function members(entries: readonly (readonly [string, string | undefined])[]): string {
  const present = entries
    .filter(([, value]) => value !== undefined)
    .map(([name, value]) => `${JSON.stringify(name)}:${value}`);
  return `{${present.join(',')}}`;
}

/** OTLP's AnyValue in its JSON encoding. Protobuf is read into the same shape. */
type AnyValue = Readonly<Record<string, unknown>>;

interface KeyValue {
  readonly key?: string;
  readonly value?: AnyValue;
}

// Deeper than the event rules allow: what is cut off here belongs to an event that they reject, with the reason.
const DEPTH_MAX = 100;

/** Writes an AnyValue that `checkRequest` accepts as JSON text, exactly: a 64-bit integer keeps all its digits. */
function anyValueText(value: AnyValue | undefined, depth = 0): string {
  if (depth > DEPTH_MAX || value === undefined || value === null) return 'null';
  if (value['stringValue'] !== undefined) return JSON.stringify(value['stringValue']);
  if (value['boolValue'] !== undefined) return JSON.stringify(value['boolValue']);
  if (value['intValue'] !== undefined) return String(value['intValue']);
  // JSON cannot write NaN and the infinities; OTLP's JSON writes them as texts, and so do we.
  if (value['doubleValue'] !== undefined) return doubleText(value['doubleValue']);
  if (value['bytesValue'] !== undefined) return JSON.stringify(value['bytesValue']);
  if (value['arrayValue'] !== undefined) {
    const items = listOf<AnyValue>(value['arrayValue']).map((item) => anyValueText(item, depth + 1));
    return `[${items.join(',')}]`;
  }
  if (value['kvlistValue'] !== undefined)
    return attributesText(listOf<KeyValue>(value['kvlistValue']), depth + 1);
  return 'null';
}

/** Writes a list of attributes as the JSON text of one object, in their order. */
function attributesText(attributes: readonly KeyValue[] | undefined, depth = 0): string {
  const members = (attributes ?? []).map(
    ({ key, value }) => `${JSON.stringify(key ?? '')}:${anyValueText(value, depth)}`,
  );
  return `{${members.join(',')}}`;
}

/** Returns the text of an attribute; `undefined` if it is of another type, or empty. */
function findText(attributes: readonly KeyValue[] | undefined, key: string): string | undefined {
  const value = attributes?.findLast((attribute) => attribute.key === key)?.value?.['stringValue'];
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
