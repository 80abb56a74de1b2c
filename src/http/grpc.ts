import { once } from 'node:events';
import {
  createSecureServer,
  createServer,
  type Http2Server,
  type IncomingHttpHeaders,
  type ServerHttp2Session,
  type ServerHttp2Stream,
} from 'node:http2';
import type { FastifyInstance } from 'fastify';
import type { Config } from '../config/config.ts';
import { QUEUE_BYTES_MAX } from '../ingest/ingest.ts';
import { encodeRetryStatus } from '../ingest/otlp/check.ts';
import type { TlsContext } from './tls.ts';

const EXPORT = '/opentelemetry.proto.collector.logs.v1.LogsService/Export';
// Of a message: whether it is compressed, and its length in four bytes.
const PREFIX_BYTES = 5;
const STREAMS_MAX = 100;
// As over HTTP: a few thousand senders, each with a minute for a call.
const CONNECTIONS_MAX = 4_096;
const CALL_MS_MAX = 60_000;
const CLOSE_MS_MAX = 5_000;
const IDLE_MS_MAX = 10 * 60_000;

const STATUS = {
  ok: 0,
  invalidArgument: 3,
  deadlineExceeded: 4,
  notFound: 5,
  permissionDenied: 7,
  resourceExhausted: 8,
  unimplemented: 12,
  internal: 13,
  unavailable: 14,
  unauthenticated: 16,
} as const;

/** Exporters repeat only what OTLP calls retryable: `unavailable`, and `resourceExhausted` with the time to wait. */
const BY_HTTP: Readonly<Record<number, number>> = {
  400: STATUS.invalidArgument,
  401: STATUS.unauthenticated,
  403: STATUS.permissionDenied,
  404: STATUS.notFound,
  413: STATUS.invalidArgument,
  415: STATUS.invalidArgument,
  429: STATUS.resourceExhausted,
  503: STATUS.unavailable,
  504: STATUS.deadlineExceeded,
};

/** How a call failed. */
interface Failure {
  readonly status: number;
  readonly message: string;
  readonly retrySeconds?: number | undefined;
}

export interface GrpcOptions {
  /** Serves `POST /v1/logs`: each call is such a request, with its key, bounds and metrics. */
  readonly app: Pick<FastifyInstance, 'inject'>;
  readonly config: Pick<Config, 'host' | 'otlpGrpcPort' | 'bodyBytesMax'>;
  readonly tls: TlsContext | undefined;
}

export interface GrpcListener {
  readonly port: number;
  readonly server: Http2Server;
  /** Accepts no more calls, and resolves when the running ones have ended. */
  close(): Promise<void>;
}

/** Accepts OTLP logs over gRPC: unary calls, for which node:http2 suffices. @throws Error if the port cannot be opened */
export async function listenGrpc({ app, config, tls }: GrpcOptions): Promise<GrpcListener> {
  const settings = { maxConcurrentStreams: STREAMS_MAX };
  const server = tls === undefined ? createServer({ settings }) : createSecureServer({ ...tls, settings });
  const sessions = new Set<ServerHttp2Session>();
  /** Bytes of all bodies that are being read or stored. */
  let held = 0;

  async function take(stream: ServerHttp2Stream, headers: IncomingHttpHeaders): Promise<void> {
    if (headers[':path'] !== EXPORT) {
      const message = `${String(headers[':path']).slice(0, 200)} is not served here; only ${EXPORT} is`;
      return fail(stream, { status: STATUS.unimplemented, message });
    }
    let own = 0;
    const hold = (bytes: number) => {
      own += bytes;
      held += bytes;
      return held <= QUEUE_BYTES_MAX;
    };
    try {
      const body = await readMessage(stream, headers, { bytesMax: config.bodyBytesMax, hold });
      if ('status' in body) return fail(stream, body);
      await answer(stream, await app.inject(toRequest(headers, body, stream.session?.socket.remoteAddress)));
    } finally {
      held -= own;
    }
  }

  server.maxConnections = CONNECTIONS_MAX;
  server.on('session', (session: ServerHttp2Session) => {
    sessions.add(session);
    session.setTimeout(IDLE_MS_MAX, () => session.close());
    session.on('close', () => sessions.delete(session)).on('error', () => session.destroy());
  });
  server.on('stream', (stream: ServerHttp2Stream, headers: IncomingHttpHeaders) => {
    stream.on('error', () => stream.close());
    stream.setTimeout(CALL_MS_MAX, () => stream.close());
    take(stream, headers).catch(() =>
      fail(stream, { status: STATUS.internal, message: 'the call failed; the log of the service says why' }),
    );
  });
  server.listen(config.otlpGrpcPort, config.host);
  await once(server, 'listening');
  const bound = server.address();
  return {
    server,
    port: typeof bound === 'object' && bound !== null ? bound.port : config.otlpGrpcPort,
    async close() {
      const closed = once(server, 'close');
      server.close();
      for (const session of sessions) session.close();
      // A sender that stops in the middle of a call would hold up the shutdown.
      const late = setTimeout(() => {
        for (const session of sessions) session.destroy();
      }, CLOSE_MS_MAX);
      await closed;
      clearTimeout(late);
    },
  };
}

interface Body {
  readonly bytes: Buffer;
  readonly isCompressed: boolean;
}

interface ReadOptions {
  readonly bytesMax: number;
  /** Counts bytes that stay in memory. @returns whether there is room for them */
  readonly hold: (bytes: number) => boolean;
}

/** Reads the one message of a unary call. */
async function readMessage(
  stream: ServerHttp2Stream,
  headers: IncomingHttpHeaders,
  { bytesMax, hold }: ReadOptions,
): Promise<Body | Failure> {
  const chunks: Buffer[] = [];
  let length = 0;
  // The stream outlives a message that is rejected, so that the status can be sent.
  for await (const chunk of stream.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
    const hasRoom = hold(chunk.length);
    length += chunk.length;
    chunks.push(chunk);
    if (length > bytesMax + PREFIX_BYTES)
      return { status: STATUS.invalidArgument, message: `the message is larger than ${bytesMax} bytes` };
    if (!hasRoom)
      return { status: STATUS.unavailable, message: 'too many events are waiting', retrySeconds: 1 };
  }
  const bytes = Buffer.concat(chunks);
  const isCompressed = bytes[0] === 1;
  if (bytes.length < PREFIX_BYTES || bytes.readUInt32BE(1) !== bytes.length - PREFIX_BYTES)
    return { status: STATUS.invalidArgument, message: 'the message is not as long as its prefix says' };
  const encoding = headers['grpc-encoding'] ?? 'identity';
  if (isCompressed && encoding !== 'gzip')
    return {
      status: STATUS.unimplemented,
      message: `grpc-encoding ${String(encoding).slice(0, 50)} is not known; use gzip`,
    };
  return { bytes: bytes.subarray(PREFIX_BYTES), isCompressed };
}

// Metadata that means the same over HTTP.
const PASSED = ['x-api-key', 'authorization', 'x-source', 'x-project', 'idempotency-key', 'user-agent'];

function toRequest(headers: IncomingHttpHeaders, { bytes, isCompressed }: Body, address = '') {
  const passed = PASSED.flatMap((name) => {
    const value = headers[name];
    return typeof value === 'string' ? [[name, value]] : [];
  });
  return {
    method: 'POST',
    url: '/v1/logs',
    remoteAddress: address,
    headers: {
      ...Object.fromEntries(passed),
      'content-type': 'application/x-protobuf',
      ...(isCompressed && { 'content-encoding': 'gzip' }),
    },
    payload: bytes,
  } as const;
}

type Injected = Awaited<ReturnType<FastifyInstance['inject']>>;

async function answer(stream: ServerHttp2Stream, response: Injected): Promise<void> {
  if (response.statusCode !== 200) {
    const { error } = JSON.parse(response.payload) as { error?: { message?: string } }; // our own error body
    return fail(stream, {
      status: BY_HTTP[response.statusCode] ?? STATUS.internal,
      message: error?.message ?? '',
      retrySeconds: Number(response.headers['retry-after']) || undefined,
    });
  }
  if (stream.closed) return;
  const message = response.rawPayload;
  const prefix = Buffer.alloc(PREFIX_BYTES);
  prefix.writeUInt32BE(message.length, 1);
  stream.respond({ ':status': 200, 'content-type': 'application/grpc' }, { waitForTrailers: true });
  stream.on('wantTrailers', () => stream.sendTrailers({ 'grpc-status': String(STATUS.ok) }));
  stream.end(Buffer.concat([prefix, message]));
}

/** Responds with a status only, after what has arrived of the call. */
function fail(stream: ServerHttp2Stream, { status, message, retrySeconds }: Failure): void {
  if (stream.closed || stream.headersSent) return;
  const details =
    retrySeconds === undefined ? undefined : encodeRetryStatus({ status, message, retrySeconds });
  stream.respond(
    {
      ':status': 200,
      'content-type': 'application/grpc',
      'grpc-status': String(status),
      'grpc-message': encodeURIComponent(message),
      ...(details !== undefined && { 'grpc-status-details-bin': Buffer.from(details).toString('base64') }),
    },
    { endStream: true },
  );
  stream.resume();
}
