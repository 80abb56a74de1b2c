import type { Transform } from 'node:stream';
import { promisify } from 'node:util';
import {
  brotliCompress,
  constants,
  createBrotliCompress,
  createGzip,
  createZstdCompress,
  gzip,
  zstdCompress,
} from 'node:zlib';

/** Content-Encodings of a response, best first. */
export const ENCODINGS = ['zstd', 'br', 'gzip', 'identity'] as const;

export type Encoding = (typeof ENCODINGS)[number];

export type Compressed = Exclude<Encoding, 'identity'>;

// The default, 11, takes a hundred times as long for a few percent.
const BROTLI = { params: { [constants.BROTLI_PARAM_QUALITY]: 5 } };

/** Creates the transform that compresses a stream. */
export const CREATE: Readonly<Record<Compressed, () => Transform>> = {
  gzip: () => createGzip(),
  br: () => createBrotliCompress(BROTLI),
  zstd: () => createZstdCompress(),
};

/** Compresses a whole body. */
export const COMPRESS: Readonly<Record<Compressed, (body: Buffer) => Promise<Buffer>>> = {
  gzip: (body) => promisify(gzip)(body),
  br: (body) => promisify(brotliCompress)(body, BROTLI),
  zstd: (body) => promisify(zstdCompress)(body),
};
