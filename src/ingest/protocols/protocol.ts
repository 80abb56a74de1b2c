import type { Config } from '../../config/config.ts';
import type { ErrorCode } from '../../errors.ts';
import { headerOf } from '../../lib/header.ts';
import type { BodyContext } from '../body-format.ts';
import type { Receipt } from '../receipt.ts';

/** The forms of bodies by which protocols send; table.ts says how each is read. */
export type ProtocolFormat =
  | 'datadog-json'
  | 'datadog-lines'
  | 'elasticsearch-bulk'
  | 'firehose'
  | 'heroku'
  | 'logpush'
  | 'loki-json'
  | 'loki-protobuf'
  | 'splunk-events'
  | 'splunk-lines'
  | 'syslog'
  | 'vercel-json'
  | 'vercel-lines';

/** The settings that protocols read. */
export type ProtocolSettings = Pick<Config, 'vercelSecret'>;

/** A request of a sender, free of the framework. */
export interface ProtocolRequest {
  readonly method: string;
  readonly params: Readonly<Record<string, string>>;
  /** A list for a name that came more than once. */
  readonly query: Readonly<Record<string, unknown>>;
  /** By lower-case name. */
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
}

/** A response in the protocol's own form. */
export interface ProtocolReply {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  /** A media type; `application/json` by default. */
  readonly type?: string;
  /** A text is sent as it is, an object as its JSON. */
  readonly body?: string | object;
}

/** Why a request is rejected as a whole. */
export interface ProtocolFailure {
  readonly status: number;
  readonly code: ErrorCode;
  readonly message: string;
}

/** A media type of a protocol's bodies. */
export interface ProtocolBody {
  /** Matched against the whole header Content-Type; empty if it is missing. */
  readonly type: RegExp;
  /** For /openapi.json and error messages. */
  readonly shown: string;
  readonly format: ProtocolFormat;
  /** A Content-Encoding that is part of the format. */
  readonly ownEncoding?: string;
}

/** A path of a protocol as its senders call it. */
export interface ProtocolRoute {
  readonly method: 'GET' | 'POST' | 'PUT';
  readonly path: string | readonly string[];
  readonly summary: string;
  /** In /openapi.json; routes without one are not listed there. */
  readonly id?: string;
}

/** A path to which events are sent. */
export interface EventRoute extends ProtocolRoute {
  readonly method: 'POST' | 'PUT';
  readonly bodies: readonly ProtocolBody[];
  /** Reads what the format needs of the request; nothing by default. */
  context?(request: ProtocolRequest): BodyContext;
  /** Responds when the events are stored, or have been rejected one by one. */
  respond(receipt: Receipt, request: ProtocolRequest, settings: ProtocolSettings): ProtocolReply;
  /** The header that is the same when a request is repeated, in lower case; `Idempotency-Key` counts first. */
  readonly repeatHeader?: string;
  /** Checks the signature of a body, decompressed. @throws TailraceError `forbidden` */
  verify?(request: ProtocolRequest, bytes: Buffer, settings: ProtocolSettings): void;
}

/** A path that senders ask about the service. */
export interface InfoRoute extends ProtocolRoute {
  /** Whether a key is needed, of scope `ingest`. */
  readonly isOpen: boolean;
  reply(request: ProtocolRequest, settings: ProtocolSettings): ProtocolReply;
}

/** What docs/senders.md says about a protocol. */
export interface ProtocolDocs {
  readonly title: string;
  /** The address of a protocol without routes. */
  readonly address?: string;
  /** Senders that the tests run. */
  readonly tested: string;
  /** How senders send the key, besides `X-API-KEY` and `Authorization: Bearer`. */
  readonly key: string;
  readonly timestamp: string;
  readonly message: string;
  readonly project: string;
  readonly metadata: string;
  /** Labels that `accepts` may name. */
  readonly labels: string;
  /** The response if all events are stored, and others that differ from most protocols'. */
  readonly answers: string;
}

/** A protocol that log senders speak; see table.ts. */
export interface Protocol {
  readonly docs: ProtocolDocs;
  readonly events: readonly EventRoute[];
  readonly info: readonly InfoRoute[];
  /** The header that names the project of events, in lower case; `x-project` counts first. */
  readonly projectHeader?: string;
  /** Headers of every response. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Finds a key that is sent neither as `X-API-KEY` nor as `Authorization: Bearer`. */
  findKey(request: Pick<ProtocolRequest, 'headers' | 'query'>): string | undefined;
  /** Responds to a request that is rejected as a whole. `Retry-After` is added. */
  refuse(failure: ProtocolFailure): ProtocolReply;
}

/** Reads the key from `Authorization: Basic`: the password, else the user. */
export function findBasicKey(request: Pick<ProtocolRequest, 'headers'>): string | undefined {
  const credentials = findCredentials(request, 'Basic');
  if (credentials === undefined) return undefined;
  const text = Buffer.from(credentials, 'base64').toString();
  const [user = '', ...password] = text.split(':');
  return password.join(':') || user || undefined;
}

/** Returns what follows a scheme in `Authorization`. */
export function findCredentials(
  request: Pick<ProtocolRequest, 'headers'>,
  scheme: string,
): string | undefined {
  const [given = '', credentials, ...more] = (headerOf(request, 'authorization') ?? '').trim().split(/ +/);
  return given.toLowerCase() === scheme.toLowerCase() && more.length === 0 ? credentials : undefined;
}

/** Writes the first reasons of rejected events as a text. */
export function reasonsText({ reasons, refused }: Pick<Receipt, 'reasons' | 'refused'>, shown = 10): string {
  const listed = reasons.slice(0, shown);
  const more = refused > listed.length ? [`and ${refused - listed.length} more`] : [];
  return [...listed, ...more].join('; ');
}
