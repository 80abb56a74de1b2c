import type { TailraceError } from '../../errors.ts';
import { headerOf } from '../../lib/network.ts';
import type { BodyFormat, EventBody } from '../body-format.ts';
import type { Receipt } from '../rejected.ts';

/** The headers of a request, by lower-case name. */
export interface ProtocolHead {
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
}

/** A response in the protocol's own form. */
export interface ProtocolReply {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  /** A media type; `application/json` by default. */
  readonly type?: string;
  /** A text and bytes are sent as they are, an object as its JSON. */
  readonly body?: string | Uint8Array | object;
}

/** Why a request is rejected as a whole. */
export type ProtocolFailure = Pick<TailraceError, 'status' | 'code' | 'message'>;

/** Where events are sent; `:index` in a path is a label of them. */
interface EventRoute {
  readonly places: readonly `POST ${string}`[];
  readonly summary: string;
  /** In /openapi.json. */
  readonly id: string;
  readonly bodies: readonly ProtocolBody[];
  /** Responds when the events are stored, or have been rejected one by one. */
  respond(receipt: Receipt, request: ProtocolHead): ProtocolReply;
}

interface ProtocolBody extends EventBody {
  /** The media type for /openapi.json and error messages, and its schema. */
  readonly shown: string;
  readonly schema?: object;
}

/** Returns the body of a media type, with any parameters. */
export function bodyOf(shown: string, format: BodyFormat): ProtocolBody {
  return { type: new RegExp(`^${shown} *(?:;|$)`, 'i'), shown, format };
}

/** What senders ask about the service, with a key of scope `ingest`; all by one method. */
interface InfoRoute {
  readonly places: readonly `${'GET' | 'POST' | 'PUT'} ${string}`[];
  reply(request: ProtocolHead): ProtocolReply;
}

/** A protocol that log senders speak; see http/routes/ingest.ts. */
export interface Protocol {
  readonly events: EventRoute;
  readonly info?: readonly InfoRoute[];
  /** The header that names the project of events, in lower case; `x-project` counts first. */
  readonly projectHeader?: string;
  /** Headers of every response. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Finds a key that is sent neither as `X-API-KEY` nor as `Authorization: Bearer`. */
  findKey?(request: ProtocolHead & { readonly query: Readonly<Record<string, unknown>> }): string | undefined;
  /** Responds to a request that is rejected as a whole, by default as docs/errors.md has it. `Retry-After` is added. */
  reject?(failure: ProtocolFailure): ProtocolReply;
}

/**
 * Reads the key from the query string, as configurations for Logflare send it; URLs end up in logs, so docs/ingest.md
 * recommends a key with only the scope `ingest`.
 */
export function findQueryKey({ query }: { readonly query: Readonly<Record<string, unknown>> }) {
  return typeof query['api_key'] === 'string' ? query['api_key'] : undefined;
}

/** Reads the key from `Authorization: Basic`: the password, else the user. */
export function findBasicKey(request: ProtocolHead): string | undefined {
  const credentials = findCredentials(request, 'Basic');
  if (credentials === undefined) return undefined;
  const text = Buffer.from(credentials, 'base64').toString();
  const [user = '', ...password] = text.split(':');
  return password.join(':') || user || undefined;
}

/** Returns what follows a scheme in `Authorization`. */
export function findCredentials(request: ProtocolHead, scheme: string): string | undefined {
  const [given = '', credentials, ...more] = (headerOf(request, 'authorization') ?? '').trim().split(/ +/);
  return given.toLowerCase() === scheme.toLowerCase() && more.length === 0 ? credentials : undefined;
}
