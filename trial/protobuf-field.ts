/** Writes a field of protobuf with a length: a text, bytes, or a message. */
export function protobufField(number: number, content: Uint8Array | string): Buffer {
  const inner = Buffer.from(content);
  return Buffer.concat([Buffer.of(number * 8 + 2), varint(inner.length), inner]);
}

/** Writes an integer; negative ones as 64 bits. */
function varint(value: number): Buffer {
  const bytes: number[] = [];
  for (let left = BigInt.asUintN(64, BigInt(value)); ; left >>= 7n) {
    const hasMore = left > 127n;
    bytes.push(Number(left & 127n) | (hasMore ? 128 : 0));
    if (!hasMore) return Buffer.from(bytes);
  }
}
