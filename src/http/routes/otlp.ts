import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { TailraceError } from '../../errors.ts';
import { chooseSource } from '../../ingest/choose-source.ts';
import type { WireEvent } from '../../ingest/decode-body.ts';
import { toEvents } from '../../ingest/otlp/events.ts';
import { decodeRequest, encodeResponse } from '../../ingest/otlp/schema.ts';
import { toText } from '../../ingest/read-body.ts';
import type { Received } from '../../ingest/receive.ts';
import type { HttpContext } from '../context.ts';
import { createIngestAuth } from '../plugins/auth.ts';
import { addBodyParser, getBody } from '../plugins/body.ts';
import { headerText, storeOnce } from './store-once.ts';

export const OTLP_PATH = '/v1/logs';

const PROTOBUF = 'application/x-protobuf';

interface Body {
  readonly bytes: Buffer;
  readonly events: readonly WireEvent[];
}

/** Takes log records in by OTLP over HTTP, protobuf and JSON; the answer is in the encoding of the request. */
export async function otlpRoute(app: FastifyInstance, context: HttpContext): Promise<void> {
  const { config, registry, keyring } = context;
  const fromProtobuf = (bytes: Buffer) =>
    toEvents(
      parse(() => decodeRequest(bytes), 'protobuf'),
      'base64',
    );
  const fromJson = (bytes: Buffer) =>
    toEvents(
      parse(() => JSON.parse(toText(bytes)) as unknown, 'JSON'),
      'hex',
    );
  app.removeAllContentTypeParsers();
  addBodyParser(app, {
    type: PROTOBUF,
    limits: config,
    decode: (bytes) => ({ events: fromProtobuf(bytes) }),
  });
  addBodyParser(app, {
    type: 'application/json',
    limits: config,
    decode: (bytes) => ({ events: fromJson(bytes) }),
  });
  app.post<{ Body: Body | undefined; Querystring: Record<string, unknown> }>(
    OTLP_PATH,
    { onRequest: createIngestAuth(keyring) },
    async (request, reply) => {
      const { bytes, events } = getBody(request.body);
      const names = { query: request.query, headers: request.headers, fields: {} };
      const source = chooseSource(registry, names, config.otlpSource);
      const project = headerText(request, 'x-project') ?? config.defaultProject;
      const received = await storeOnce(request, context, { source, events, bytes, project });
      return answer(request, reply, received);
    },
  );
}

function answer(request: FastifyRequest, reply: FastifyReply, { refused, reasons }: Received): FastifyReply {
  const message = reasons.join('; ');
  if (request.headers['content-type']?.startsWith(PROTOBUF) === true) {
    return reply.type(PROTOBUF).send(Buffer.from(encodeResponse(refused, message)));
  }
  // 64-bit integers are texts in OTLP's JSON.
  const partialSuccess = { rejectedLogRecords: String(refused), errorMessage: message };
  return reply.send(refused === 0 ? {} : { partialSuccess });
}

function parse<T>(read: () => T, what: string): T {
  try {
    return read();
  } catch (cause) {
    if (cause instanceof TailraceError) throw cause;
    throw new TailraceError('invalid_request', `the body is not valid ${what}; it may have been cut short`, {
      cause,
    });
  }
}
