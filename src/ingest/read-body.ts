import { IncomingMessage } from 'node:http';
import type { Readable } from 'node:stream';
import { createBrotliDecompress, createGunzip, createInflate, createZstdDecompress } from 'node:zlib';
import type { Config } from '../config/config.ts';
import { TailraceError } from '../errors.ts';
import { freeMemory } from '../lib/memory.ts';

type BodyLimits = Pick<Config, 'bodyBytesMax'>;

/** What is known of a body before it is read. */
interface UnreadBody {
  /** Content-Encoding. */
  readonly encoding: string | undefined;
  /** Content-Length in bytes; NaN if not sent. */
  readonly length: number;
  /** Throws if the body must not be read now; called when nothing else speaks against it. */
  readonly check?: (() => void) | undefined;
}

// Logs shrink to a tenth or less, but their senders split batches by the size before.
const DECODED_TIMES = 4;
// Logs of a machine that repeats itself stay below it, bombs do not.
const RATIO_MAX = 200;
// Below this size any ratio is harmless.
const RATIO_FREE_BYTES = 1024 * 1024;
// Each takes a turn of the thread pool, up to 2 ms with zstd's window of 2 MB. The largest body could hold two million.
const FRAMES_MAX = 1_000;

/** Returns the largest size of a body after decompression. */
export const decodedBytesMaxOf = ({ bodyBytesMax }: BodyLimits) => bodyBytesMax * DECODED_TIMES;

/**
 * Reads and decompresses a body in bounded memory. @throws TailraceError `body_too_large`, `unsupported_media_type`,
 * `invalid_request` if the bytes are not of that encoding or end too soon; what `check` throws
 */
export async function readBody(
  request: Readable,
  { encoding, length, check }: UnreadBody,
  limits: BodyLimits,
): Promise<Buffer> {
  const createDecompressor = findDecompressor(encoding);
  const decodedBytesMax = decodedBytesMaxOf(limits);
  const chunks: Buffer[] = [];
  let sent = 0;
  let decoded = 0;
  let frames = 1;
  let whole = 0; // bytes of the frames that were read to their end

  function count(bytes: number): void {
    sent += bytes;
    if (sent > limits.bodyBytesMax) throw tooLarge(`is larger than ${limits.bodyBytesMax} bytes`);
  }

  function keep(chunk: Buffer): void {
    decoded += chunk.length;
    chunks.push(chunk);
    if (decoded > decodedBytesMax)
      throw tooLarge(`is larger than ${decodedBytesMax} bytes when decompressed`);
    if (decoded > RATIO_FREE_BYTES && decoded > sent * RATIO_MAX)
      throw tooLarge(`decompresses to more than ${RATIO_MAX} times its size`);
  }

  function beginFrame(left: number): void {
    whole = sent - left;
    if (++frames > FRAMES_MAX)
      throw tooLarge(`has more than ${FRAMES_MAX} frames of ${encoding}; compress more events at once`);
  }

  try {
    if (length > limits.bodyBytesMax) count(length);
    check?.();
    const arriving = readChunks(request, count);
    const plain =
      createDecompressor === undefined ? arriving : decompress(arriving, createDecompressor, beginFrame);
    for await (const chunk of plain) keep(chunk);
    const body = Buffer.concat(chunks, decoded);
    // Only of a request on a socket: Node's parser copies each chunk for the request alone.
    if (request instanceof IncomingMessage && createDecompressor === undefined) freeMemory(chunks);
    return body;
  } catch (cause) {
    // Drain the rest, so that the error can be sent on this connection before it is closed.
    request.resume();
    if (cause instanceof TailraceError) throw cause;
    const left = Math.max(sent, length || 0) - whole;
    const place = whole === 0 ? '' : `: ${left} bytes are left over after ${whole} that are whole`;
    throw invalid(`the body is not valid ${encoding}, or ends too soon${place}`, cause);
  }
}

/** Unlike in a pipeline, the request survives a failure of the reader. */
async function* readChunks(request: Readable, count: (bytes: number) => void): AsyncGenerator<Buffer> {
  try {
    for await (const chunk of request.iterator({ destroyOnReturn: false })) {
      count(chunk.length);
      yield chunk;
    }
  } catch (cause) {
    throw cause instanceof TailraceError ? cause : invalid('the body did not arrive whole', cause);
  }
}

/** @returns `undefined` if the body is not compressed */
function findDecompressor(encoding: string | undefined) {
  const name = encoding?.trim().toLowerCase() ?? 'identity';
  if (name === 'identity' || name === '') return undefined;
  const create = Object.hasOwn(DECOMPRESSORS, name) ? DECOMPRESSORS[name] : undefined;
  if (create !== undefined) return create;
  const known = Object.keys(DECOMPRESSORS).join(', ');
  const message = `Content-Encoding ${JSON.stringify(name)} is not known; use ${known}`;
  throw new TailraceError('unsupported_media_type', message);
}

function tooLarge(how: string): TailraceError {
  return new TailraceError('body_too_large', `the body ${how}`, { headers: { connection: 'close' } });
}

function invalid(message: string, cause: unknown): TailraceError {
  return new TailraceError('invalid_request', message, { cause, headers: { connection: 'close' } });
}

type Decompressor = ReturnType<typeof createGunzip>; // the types of the others are the same

/** By the names of Content-Encoding. */
export const DECOMPRESSORS: Readonly<Record<string, () => Decompressor>> = {
  gzip: createGunzip,
  'x-gzip': createGunzip,
  deflate: createInflate,
  br: createBrotliDecompress,
  zstd: createZstdDecompress,
};

/**
 * Node's decompressors (other than gzip's) stop at the end of a frame and drop what follows it in the chunk: another one
 * decompresses that. @param onNext called before each frame but the first, with the count of bytes at hand for it
 */
export async function* decompress(
  chunks: AsyncIterable<Buffer>,
  create: () => Decompressor,
  onNext?: (bytes: number) => void,
): AsyncGenerator<Buffer> {
  const source = chunks[Symbol.asyncIterator]();
  let rest: Buffer | undefined;

  /** Writes chunks until the frame or the source ends. */
  async function feed(frame: Decompressor): Promise<void> {
    for (;;) {
      const { value: chunk = undefined } = rest === undefined ? await source.next() : { value: rest };
      rest = undefined;
      if (chunk === undefined) return void frame.end();
      const before = frame.bytesWritten;
      await new Promise((resolve) => frame.write(chunk, resolve));
      const used = frame.bytesWritten - before;
      if (used === chunk.length) continue;
      rest = chunk.subarray(used);
      return;
    }
  }

  try {
    for (;;) {
      const frame = create();
      const fed = feed(frame).catch((error) => frame.destroy(error));
      yield* frame;
      await fed;
      if (rest === undefined) return;
      onNext?.(rest.length);
    }
  } finally {
    source.return?.().catch(() => {}); // it may wait for bytes that never come
  }
}
