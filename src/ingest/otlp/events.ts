import { TailraceError } from '../../errors.ts';
import { refuseTooMany, type WireEvent } from '../decode-body.ts';
import { anyValueText, attributesText, findText, integerText, type KeyValue } from './value.ts';

interface LogRecord {
  readonly timeUnixNano?: string | number;
  readonly observedTimeUnixNano?: string | number;
  readonly severityNumber?: number;
  readonly severityText?: string;
  readonly body?: Readonly<Record<string, unknown>>;
  readonly attributes?: readonly KeyValue[];
  readonly flags?: number;
  readonly traceId?: string;
  readonly spanId?: string;
  readonly eventName?: string;
}

interface Scope {
  readonly name?: string;
  readonly version?: string;
  readonly attributes?: readonly KeyValue[];
}

interface Request {
  readonly resourceLogs?: readonly {
    readonly resource?: { readonly attributes?: readonly KeyValue[] };
    readonly scopeLogs?: readonly { readonly scope?: Scope; readonly logRecords?: readonly LogRecord[] }[];
  }[];
}

/** The attribute, of a record or of its resource, that says whose a record is. */
const PROJECT_ATTRIBUTE = 'tailrace.project';

/**
 * The records of an OTLP request, in its JSON shape, as events on the wire.
 *
 * @param idEncoding how trace and span ids are written: hex in OTLP's JSON, base64 where protobuf was read
 * @throws TailraceError `invalid_request` when it is not shaped like a request
 */
export function toEvents(request: unknown, idEncoding: 'hex' | 'base64'): WireEvent[] {
  try {
    const events: WireEvent[] = [];
    let chars = 0;
    for (const { record, surroundings } of findRecords(asMessage<Request>(request))) {
      const text = eventText(asMessage(record), surroundings, idEncoding);
      chars += text.length;
      if (chars > EVENTS_CHARS_MAX) throw tooLarge();
      events.push({ text });
      refuseTooMany(events.length);
    }
    return events;
  } catch (cause) {
    if (cause instanceof TailraceError) throw cause;
    throw new TailraceError('invalid_request', 'the body is not an OTLP ExportLogsServiceRequest', { cause });
  }
}

/** Each record with what surrounds it, which is written once for all of them: a body may hold many of both. */
function* findRecords({ resourceLogs = [] }: Request) {
  for (const { resource, scopeLogs = [] } of resourceLogs) {
    const project = findText(resource?.attributes, PROJECT_ATTRIBUTE);
    const resourceText = attributesText(resource?.attributes);
    for (const { scope, logRecords = [] } of scopeLogs) {
      const surroundings: Surroundings = { project, resource: resourceText, scope: scopeText(scope) };
      for (const record of logRecords) yield { record, surroundings };
    }
  }
}

// Of all events of a body together: each has its resource in it, so that a small body can come to very much.
const EVENTS_CHARS_MAX = 64 * 1024 * 1024;

function tooLarge(): TailraceError {
  const message = `the records come to more than ${EVENTS_CHARS_MAX} characters, each with its resource; send less at once`;
  return new TailraceError('body_too_large', message);
}

/** Only proves that it is an object; members of other types than the protocol's end in a TypeError, or as what they are. */
function asMessage<T extends object>(value: unknown): T {
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as T;
  throw new TypeError('a message must be an object');
}

/** Of a record, as JSON text. */
interface Surroundings {
  readonly project: string | undefined;
  readonly resource: string;
  readonly scope: string;
}

/** One record as an event's JSON text; docs/ingest.md has the table of what goes where. */
function eventText(
  record: LogRecord,
  { project: fallback, scope, resource }: Surroundings,
  idEncoding: 'hex' | 'base64',
): string {
  const project = findText(record.attributes, PROJECT_ATTRIBUTE) ?? fallback;
  const time = firstTime(record.timeUnixNano, record.observedTimeUnixNano);
  const body = anyValueText(record.body);
  const metadata = members([
    ['level', text(record.severityText?.toLowerCase())],
    ['severity_text', text(record.severityText)],
    ['severity_number', record.severityNumber ? integerText(record.severityNumber) : undefined],
    ['trace_id', text(hex(record.traceId, idEncoding))],
    ['span_id', text(hex(record.spanId, idEncoding))],
    ['flags', record.flags ? integerText(record.flags) : undefined],
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

function scopeText(scope: Scope | undefined): string {
  const attributes = scope?.attributes === undefined ? undefined : attributesText(scope.attributes);
  return members([
    ['name', text(scope?.name)],
    ['version', text(scope?.version)],
    ['attributes', attributes],
  ]);
}

/**
 * Zero means "not known" in OTLP. At least 18 digits, so that the event rules see nanoseconds; what is no number they refuse.
 */
function firstTime(...times: (string | number | undefined)[]): string | undefined {
  const known = times.find((time) => !/^0*$/.test(String(time ?? '')));
  return text(known === undefined ? undefined : String(known).padStart(18, '0'));
}

function hex(id: string | undefined, encoding: 'hex' | 'base64'): string | undefined {
  return id === undefined || encoding === 'hex' ? id : Buffer.from(id, 'base64').toString('hex');
}

/** JSON text of a string; `undefined` for none or an empty one, which OTLP does not tell apart. */
function text(value: string | undefined): string | undefined {
  return value === undefined || value === '' ? undefined : JSON.stringify(value);
}

function members(entries: readonly (readonly [string, string | undefined])[]): string {
  const present = entries
    .filter(([, value]) => value !== undefined)
    .map(([name, value]) => `${JSON.stringify(name)}:${value}`);
  return `{${present.join(',')}}`;
}
