import { isUtf8 } from 'node:buffer';
import type { Readable, Transform } from 'node:stream';
import { createBrotliDecompress, createGunzip, createInflate, createZstdDecompress } from 'node:zlib';
import { TailraceError } from '../errors.ts';

export interface BodyLimits {
  /** As it is sent. */
  readonly bodyBytesMax: number;
  /** After decompression. */
  readonly decodedBytesMax: number;
  /** Decompressed bytes for each one sent; real logs stay far below it, a bomb does not. */
  readonly ratioMax: number;
}

const DECODERS: Readonly<Record<string, () => Transform>> = {
  gzip: createGunzip,
  'x-gzip': createGunzip,
  deflate: createInflate,
  br: createBrotliDecompress,
  zstd: createZstdDecompress,
};

// Below this size any ratio is harmless.
const RATIO_FREE_BYTES = 1024 * 1024;

/** What the headers of a request say about its body. */
export interface BodyHeaders {
  /** Content-Encoding. */
  readonly encoding: string | undefined;
  /** Content-Length in bytes; NaN where it is not told. */
  readonly length: number;
}

/**
 * Reads a request's body whole, decompressed, in bounded memory.
 *
 * @throws TailraceError `unsupported_media_type` for an encoding we do not know, `body_too_large` past a limit,
 * `invalid_request` when the bytes are not of that encoding or end too soon
 */
export async function readBody(
  stream: Readable,
  { encoding, length }: BodyHeaders,
  limits: BodyLimits,
): Promise<Buffer> {
  const decoder = createDecoder(encoding);
  const chunks: Buffer[] = [];
  let sent = 0;
  let decoded = 0;
  const refuseLarge = (bytes: number) => {
    if (bytes > limits.bodyBytesMax) throw tooLarge(`the body is larger than ${limits.bodyBytesMax} bytes`);
  };
  const takeSent = (chunk: Buffer) => {
    sent += chunk.length;
    refuseLarge(sent);
  };
  const takeDecoded = (chunk: Buffer) => {
    decoded += chunk.length;
    chunks.push(chunk);
    if (decoded > limits.decodedBytesMax) {
      throw tooLarge(`the body is larger than ${limits.decodedBytesMax} bytes when decompressed`);
    }
    if (decoded > RATIO_FREE_BYTES && decoded > sent * limits.ratioMax) {
      throw tooLarge(`the body decompresses to more than ${limits.ratioMax} times its size`);
    }
  };
  try {
    refuseLarge(length);
    await consume(stream, decoder, { takeSent, takeDecoded });
    return Buffer.concat(chunks, decoded);
  } catch (error) {
    // What is still to come is let go, so that the answer can be sent on this connection before it is closed.
    stream.resume();
    throw toBodyError(error, encoding);
  } finally {
    decoder?.destroy();
  }
}

/** @throws TailraceError `invalid_request` when the bytes are not UTF-8 */
export function toText(body: Buffer): string {
  return asUtf8(body).toString();
}

/** @throws TailraceError `invalid_request` when the bytes are not UTF-8 */
export function asUtf8(body: Buffer): Buffer {
  if (isUtf8(body)) return body;
  throw new TailraceError('invalid_request', 'the body is not valid UTF-8');
}

interface Takers {
  readonly takeSent: (chunk: Buffer) => void;
  readonly takeDecoded: (chunk: Buffer) => void;
}

/** Resolves at the end of the body, rejects with the first failure of stream, decoder or taker. */
function consume(
  stream: Readable,
  decoder: Transform | undefined,
  { takeSent, takeDecoded }: Takers,
): Promise<void> {
  return new Promise((resolve, reject) => {
    const guarded = (work: (chunk: Buffer) => void) => (chunk: Buffer) => {
      try {
        work(chunk);
      } catch (error) {
        stream.removeAllListeners('data').unpipe();
        reject(error);
      }
    };
    stream.on('error', reject);
    // A stream that has ended closes too, while its last bytes are still being decompressed.
    stream.on('close', () => {
      if (!stream.readableEnded) reject(new Error('the client went away'));
    });
    if (decoder === undefined) {
      stream.on(
        'data',
        guarded((chunk) => {
          takeSent(chunk);
          takeDecoded(chunk);
        }),
      );
      stream.on('end', resolve);
      return;
    }
    stream.on('data', guarded(takeSent));
    decoder.on('data', guarded(takeDecoded));
    decoder.on('end', resolve);
    decoder.on('error', reject);
    stream.pipe(decoder);
  });
}

function createDecoder(encoding: string | undefined): Transform | undefined {
  const name = encoding?.trim().toLowerCase() ?? 'identity';
  if (name === 'identity' || name === '') return undefined;
  const create = Object.hasOwn(DECODERS, name) ? DECODERS[name] : undefined;
  if (create !== undefined) return create();
  const known = Object.keys(DECODERS).join(', ');
  throw new TailraceError(
    'unsupported_media_type',
    `Content-Encoding ${JSON.stringify(name)} is not known; use ${known}`,
  );
}

function tooLarge(message: string): TailraceError {
  return new TailraceError('body_too_large', message, { headers: { connection: 'close' } });
}

function toBodyError(error: unknown, encoding: string | undefined): TailraceError {
  if (error instanceof TailraceError) return error;
  const { code } = error as { code?: unknown };
  const fromDecoder = typeof code === 'string' && /^(Z_|ERR_|ZSTD_)/.test(code) && encoding !== undefined;
  const message = fromDecoder
    ? `the body is not valid ${encoding}, or ends too soon`
    : 'the body did not arrive whole';
  return new TailraceError('invalid_request', message, { cause: error, headers: { connection: 'close' } });
}
