import {
  type BrotliDecompress,
  createBrotliDecompress,
  createGunzip,
  createInflate,
  createZstdDecompress,
  type Gunzip,
  type Inflate,
  type ZstdDecompress,
} from 'node:zlib';

type Decompressor = Gunzip | Inflate | BrotliDecompress | ZstdDecompress;

/** By the names of Content-Encoding. */
export const DECOMPRESSORS: Readonly<Record<string, () => Decompressor>> = {
  gzip: createGunzip,
  'x-gzip': createGunzip,
  deflate: createInflate,
  br: createBrotliDecompress,
  zstd: createZstdDecompress,
};

/**
 * Decompresses bytes to their end. Node's decompressors stop at the end of a frame (those of gzip excepted) and drop
 * what follows it in the chunk: another one decompresses that.
 *
 * @param onNext called before each frame but the first, with the count of bytes at hand for it
 * @throws the error of `chunks` or `onNext`, or Node's if the bytes are not of the encoding or end too soon
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
