import { type ClientHttp2Session, connect } from 'node:http2';
import { gzipSync } from 'node:zlib';
import type { Random } from '../../../src/lib/random.ts';
import { otlpProtobuf } from './bodies.ts';
import { show } from './http.ts';
import { mutate } from './junk.ts';
import type { FuzzedSender } from './sender.ts';

const EXPORT = '/opentelemetry.proto.collector.logs.v1.LogsService/Export';
const ANSWER_MS_MAX = 20_000;
// Stored, invalid argument, unimplemented (an encoding), unavailable.
const STATUSES = ['0', '3', '12', '14'];

/** Calls OTLP's logs service by hand: exporters send no wrong bytes. */
export function createGrpcSender({ url, key }: { readonly url: string; readonly key: string }): FuzzedSender {
  let session: ClientHttp2Session | undefined;
  function open(): ClientHttp2Session {
    if (session === undefined || session.closed || session.destroyed)
      session = connect(url).on('error', () => {}); // the call fails, too
    return session;
  }

  return {
    async send(random) {
      const { bytes, encoding } = writeMessage(random);
      const stream = open().request({
        ...{ ':method': 'POST', ':path': EXPORT, 'content-type': 'application/grpc', te: 'trailers' },
        ...{ 'x-api-key': key, ...(encoding !== '' && { 'grpc-encoding': encoding }) },
      });
      const seen: Record<string, unknown> = {};
      const note = (headers: object) => Object.assign(seen, headers);
      stream.on('response', note).on('trailers', note);
      stream.setTimeout(ANSWER_MS_MAX, () =>
        stream.destroy(new Error(`no answer within ${ANSWER_MS_MAX} ms`)),
      );
      stream.end(bytes);
      const chunks: Buffer[] = [];
      for await (const chunk of stream as AsyncIterable<Buffer>) chunks.push(chunk);
      const status = String(seen['grpc-status']);
      const body = Buffer.concat(chunks);
      const isWhole =
        status === '0' ? body.length >= 5 && body.length === 5 + body.readUInt32BE(1) : body.length === 0;
      const isKnown = seen[':status'] === 200 && STATUSES.includes(status) && isWhole;
      const message = `status ${status}: ${seen['grpc-message']}, ${body.length} bytes, for ${show(bytes)}`;
      return { outcome: `grpc ${status}`, ...(!isKnown && { fault: message }) };
    },
    async close() {
      session?.destroy();
    },
  };
}

function writeMessage(random: Random) {
  const encoding = random.pick(['gzip', '', '', '', 'identity', 'snappy']);
  const message = mutate(otlpProtobuf(random), random);
  const packed = encoding === 'gzip' ? gzipSync(message) : message;
  const prefix = Buffer.alloc(5);
  prefix[0] = encoding === 'gzip' ? 1 : random.pick([0, 0, 0, 0, 0, 0, 0, 1, 2, 255]);
  prefix.writeUInt32BE(random.chance(0.9) ? packed.length : random.pick([0, 1, 2 ** 31, 2 ** 32 - 1]), 1);
  const whole = Buffer.concat([prefix, packed]);
  return { bytes: random.chance(0.1) ? mutate(whole, random) : whole, encoding };
}
