import { createHmac, timingSafeEqual } from 'node:crypto';
import { promisify } from 'node:util';
import { zstdCompress, zstdDecompress } from 'node:zlib';
import type { Position } from '../../query/position.ts';
import type { Answer } from '../../query/run.ts';

/** An answer between replicas: its instant is by the clock that they share, its format is that of the question. */
export interface SharedAnswer {
  readonly answer: Omit<Answer, 'instantMs' | 'format'>;
  /** The instant of its query by the clock that all replicas share, ms since the epoch. */
  readonly madeMs: number;
}

/** At 400 Mbit/s a frame of this size takes a third of the timeout of Redis; larger ones would look like an unavailable Redis. */
export const FRAME_BYTES_MAX = 4 * 1024 * 1024;
// The largest body that is compressed into one frame: JSON rarely shrinks to less than an eighth.
const BODY_BYTES_MAX = 8 * FRAME_BYTES_MAX;
// Smaller bodies fit into one packet anyway.
const PLAIN_BYTES_MAX = 1_024;
const WORTH_SHARE_MAX = 0.9;

const VERSION = '3';
const MADE_DIGITS = 15;
/** A frame begins with so many characters in clear, which differ from one answer of a key to the next. */
export const MARK_BYTES = VERSION.length + MADE_DIGITS;

// After the mark: 1 byte whether the body is compressed, then the numbers, each at its place.
const AT = {
  compressed: MARK_BYTES,
  rows: 17,
  engineMs: 21,
  bodyBytes: 29,
  last: 33,
  rest: 37,
} as const;
const MAC_BYTES = 32;

/** Returns the mark of an answer by the instant of its query. */
export function markOf(madeMs: number): string {
  return VERSION + String(madeMs).padStart(MADE_DIGITS, '0');
}

/** Encodes answers as bytes that cannot be forged, changed or exchanged without the secret. @param secret for this purpose alone */
export function createFrames(secret: Uint8Array) {
  /** Signs the key, too, with its length before it: no other key and frame have the same bytes together. */
  function sign(key: string, content: Buffer): Buffer {
    const name = Buffer.from(key);
    const length = Buffer.alloc(4);
    length.writeUInt32LE(name.length);
    return createHmac('sha256', secret).update(length).update(name).update(content).digest();
  }

  return {
    /** @returns `undefined` for an answer that is too large to be shared */
    async encode(key: string, framed: SharedAnswer): Promise<Buffer | undefined> {
      const content = await pack(framed);
      if (content === undefined || content.length + MAC_BYTES > FRAME_BYTES_MAX) return undefined;
      return Buffer.concat([content, sign(key, content)]);
    },
    /** @returns `undefined` for bytes that were not encoded for this key with this secret */
    async decode(key: string, bytes: Buffer): Promise<SharedAnswer | undefined> {
      if (bytes.length < AT.rest + MAC_BYTES || bytes.length > FRAME_BYTES_MAX) return undefined;
      const content = bytes.subarray(0, -MAC_BYTES);
      // The signature is checked first: no part of a forged frame is parsed.
      if (!timingSafeEqual(sign(key, content), bytes.subarray(-MAC_BYTES))) return undefined;
      if (content.toString('latin1', 0, VERSION.length) !== VERSION) return undefined;
      return await unpack(content).catch(() => undefined); // such as too little memory: a query can still run
    },
  };
}

async function pack({ answer, madeMs }: SharedAnswer): Promise<Buffer | undefined> {
  const { body, rows, engineMs, last } = answer;
  if (body.length > BODY_BYTES_MAX) return undefined;
  const small = body.length > PLAIN_BYTES_MAX ? await promisify(zstdCompress)(body) : body;
  const isCompressed = small.length < body.length * WORTH_SHARE_MAX;
  const lastBytes = Buffer.from(last === undefined ? '' : JSON.stringify(last));
  const head = Buffer.alloc(AT.rest);
  head.write(markOf(madeMs), 'latin1');
  head.writeUInt8(Number(isCompressed), AT.compressed);
  head.writeUInt32LE(rows, AT.rows);
  head.writeDoubleLE(engineMs, AT.engineMs);
  head.writeUInt32LE(body.length, AT.bodyBytes);
  head.writeUInt32LE(lastBytes.length, AT.last);
  return Buffer.concat([head, lastBytes, isCompressed ? small : body]);
}

async function unpack(content: Buffer): Promise<SharedAnswer> {
  const bodyFrom = AT.rest + content.readUInt32LE(AT.last);
  const packed = content.subarray(bodyFrom);
  const maxOutputLength = Math.max(content.readUInt32LE(AT.bodyBytes), 1); // 0 would be rejected
  const isCompressed = content.readUInt8(AT.compressed) === 1;
  const body = isCompressed ? await promisify(zstdDecompress)(packed, { maxOutputLength }) : packed;
  const last = content.toString('utf8', AT.rest, bodyFrom);
  const answer = {
    ...{ body, rows: content.readUInt32LE(AT.rows), engineMs: content.readDoubleLE(AT.engineMs) },
    ...(last !== '' && { last: JSON.parse(last) as Position }), // signed: `pack` wrote it
  };
  const madeMs = Number(content.toString('latin1', VERSION.length, MARK_BYTES));
  return { answer, madeMs };
}
