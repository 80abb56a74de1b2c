import { TailraceError } from '../../errors.ts';
import type { WireEvent } from '../decode-body.ts';
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
    const { resourceLogs = [] } = asMessage<Request>(request);
    return resourceLogs.flatMap(({ resource, scopeLogs = [] }) =>
      scopeLogs.flatMap(({ scope, logRecords = [] }) =>
        logRecords.map((record) => ({
          text: eventText(asMessage(record), { scope, resource: resource?.attributes, idEncoding }),
        })),
      ),
    );
  } catch (cause) {
    throw new TailraceError('invalid_request', 'the body is not an OTLP ExportLogsServiceRequest', { cause });
  }
}

/** Only proves that it is an object; members of other types than the protocol's end in a TypeError, or as what they are. */
function asMessage<T extends object>(value: unknown): T {
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as T;
  throw new TypeError('a message must be an object');
}

interface Surroundings {
  readonly scope: Scope | undefined;
  readonly resource: readonly KeyValue[] | undefined;
  readonly idEncoding: 'hex' | 'base64';
}

/** One record as an event's JSON text; docs/ingest.md has the table of what goes where. */
function eventText(record: LogRecord, { scope, resource, idEncoding }: Surroundings): string {
  const project = findText(record.attributes, PROJECT_ATTRIBUTE) ?? findText(resource, PROJECT_ATTRIBUTE);
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
    ['resource', attributesText(resource)],
    ['scope', scopeText(scope)],
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
