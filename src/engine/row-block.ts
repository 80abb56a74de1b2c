/** How a block holds the values of a column. `micros`: instants, µs since 1970. */
export type BlockKind = 'text' | 'integer' | 'number' | 'boolean' | 'micros';

/** A column of a block of rows, as plain data, which any thread or process can receive. */
export interface BlockColumn {
  readonly name: string;
  readonly kind: BlockKind;
}

// A block holds rows column by column, as they are passed to the engine process: the number of rows, then a section for
// each column. Numbers are little-endian, as the machine's own on every platform that chDB runs on.
//
// - text: bytes of all values together; the length of each, -1 for null; the bytes, UTF-8
// - integer, number, micros: a double for each row, NaN for null
// - boolean: a byte for each row, 2 for null

const NULL_LENGTH = -1;
const NULL_BOOLEAN = 2;
const LENGTH_BYTES = 4;
const NUMBER_BYTES = 8;

/** Returns the bytes of a column's section. A value that is not of the column's kind is written as null. */
const WRITERS: Readonly<Record<BlockKind, (values: readonly unknown[]) => readonly Uint8Array[]>> = {
  text: writeText,
  integer: writeNumbers,
  number: writeNumbers,
  micros: writeNumbers,
  boolean: (values) => [
    new Uint8Array(values.map((value) => (typeof value === 'boolean' ? Number(value) : NULL_BOOLEAN))),
  ],
};

/** Writes rows as a block. @param rows a value for each column, of its kind or null */
export function writeBlock(columns: readonly BlockColumn[], rows: readonly (readonly unknown[])[]): Buffer {
  const sections = columns.flatMap(({ kind }, i) => WRITERS[kind](rows.map((row) => row[i])));
  const bytes = sections.reduce((sum, { length }) => sum + length, LENGTH_BYTES);
  const block = Buffer.allocUnsafeSlow(bytes); // not from the shared pool, so that the block can move to another thread
  let at = block.writeUInt32LE(rows.length, 0);
  for (const section of sections) {
    block.set(section, at);
    at += section.length;
  }
  return block;
}

function writeText(values: readonly unknown[]): readonly Uint8Array[] {
  let texts = values.map((value) => (typeof value === 'string' ? value : null));
  let text = texts.join('');
  const isAscii = Buffer.byteLength(text) === text.length;
  if (!isAscii) {
    // Half a surrogate pair has no UTF-8 form, and must not become a whole one with its neighbour's.
    texts = texts.map((value) => value?.toWellFormed() ?? null);
    text = texts.join('');
  }
  const bytes = Buffer.from(text, isAscii ? 'latin1' : 'utf8');
  const lengthOf = (value: string) => (isAscii ? value.length : Buffer.byteLength(value));
  const lengths = texts.map((value) => (value === null ? NULL_LENGTH : lengthOf(value)));
  return [bytesOf(Int32Array.of(bytes.length)), bytesOf(new Int32Array(lengths)), bytes];
}

function writeNumbers(values: readonly unknown[]): readonly Uint8Array[] {
  return [bytesOf(new Float64Array(values.map((value) => (typeof value === 'number' ? value : Number.NaN))))];
}

/** A column of rows in Arrow's memory layout (its C data interface), which the engine reads without parsing. */
export interface ArrowColumn {
  readonly name: string;
  /** Type in the notation of Arrow's C data interface. */
  readonly format: string;
  readonly length: number;
  readonly nullCount: number;
  /** The first has a bit for each row, 0 for null; null if all rows have a value. */
  readonly buffers: readonly (Buffer | null)[];
}

/** Joins blocks of rows, one after the other in `blocks`, column by column. @throws RangeError if they end too soon */
export function toArrow(blocks: Buffer, columns: readonly BlockColumn[]): ArrowColumn[] {
  const found = columns.map((column) => ({ ...column, sections: [] as FoundSection[] }));
  let length = 0;
  for (let at = 0; at < blocks.length; ) {
    const rows = blocks.readUInt32LE(at);
    at += LENGTH_BYTES;
    for (const { kind, sections } of found) {
      sections.push({ at, rows });
      if (kind === 'text') at += LENGTH_BYTES * (1 + rows) + blocks.readUInt32LE(at);
      else at += kind === 'boolean' ? rows : NUMBER_BYTES * rows;
    }
    if (at > blocks.length) throw new RangeError('the last block is not whole');
    length += rows;
  }
  return found.map(({ name, kind, sections }) => {
    const nulls: Nulls = { rows: length, count: 0, bitmap: null };
    const { format, buffers } = READERS[kind](blocks, sections, nulls);
    return { name, format, length, nullCount: nulls.count, buffers: [nulls.bitmap, ...buffers] };
  });
}

/** The section of a column in one block. */
interface FoundSection {
  readonly at: number;
  readonly rows: number;
}

type Reader = (
  blocks: Buffer,
  sections: readonly FoundSection[],
  nulls: Nulls,
) => Pick<ArrowColumn, 'format' | 'buffers'>;

const READERS: Readonly<Record<BlockKind, Reader>> = {
  text: readText,
  integer: (...column) => ({ format: 'l', buffers: [readIntegers(...column)] }),
  micros: (...column) => ({ format: 'tsu:UTC', buffers: [readIntegers(...column)] }),
  number: (...column) => ({ format: 'g', buffers: [bytesOf(readNumbers(...column))] }),
  boolean: readBooleans,
};

/** Which rows of a column are null. */
interface Nulls {
  readonly rows: number;
  count: number;
  bitmap: Buffer | null;
}

function addNull(nulls: Nulls, row: number): void {
  nulls.count++;
  nulls.bitmap ??= Buffer.alloc(bitmapBytes(nulls.rows), 0xff);
  nulls.bitmap[row >> 3] = (nulls.bitmap[row >> 3] ?? 0) & ~(1 << (row & 7));
}

function bitmapBytes(rows: number): number {
  return Math.ceil(rows / 8);
}

function readText(blocks: Buffer, sections: readonly FoundSection[], nulls: Nulls): ReturnType<Reader> {
  const offsets = new Int32Array(nulls.rows + 1);
  const parts: Buffer[] = [];
  let row = 0;
  let end = 0;
  for (const section of sections) {
    let at = section.at + LENGTH_BYTES;
    for (const last = row + section.rows; row < last; at += LENGTH_BYTES) {
      const length = blocks.readInt32LE(at);
      if (length === NULL_LENGTH) addNull(nulls, row);
      else end += length;
      offsets[++row] = end;
    }
    parts.push(blocks.subarray(at, at + blocks.readUInt32LE(section.at)));
  }
  return { format: 'u', buffers: [bytesOf(offsets), Buffer.concat(parts)] };
}

function readNumbers(blocks: Buffer, sections: readonly FoundSection[], nulls: Nulls): Float64Array {
  const values = new Float64Array(nulls.rows);
  const bytes = bytesOf(values);
  let end = 0;
  for (const { at, rows } of sections) end += blocks.copy(bytes, end, at, at + NUMBER_BYTES * rows);
  for (let row = 0; row < values.length; row++) {
    const value = values[row] ?? 0;
    if (Number.isNaN(value)) addNull(nulls, row);
    values[row] = value + 0; // -0 becomes 0, as in JSON
  }
  return values;
}

const HIGH = 2 ** 32;

/** Whole numbers between ±2^53, as 64-bit integers: two halves, since a BigInt for each value takes many times as long. */
function readIntegers(blocks: Buffer, sections: readonly FoundSection[], nulls: Nulls): Buffer {
  const values = readNumbers(blocks, sections, nulls);
  const halves = new Int32Array(2 * nulls.rows);
  for (let row = 0; row < values.length; row++) {
    const value = values[row] ?? 0;
    halves[2 * row] = value;
    halves[2 * row + 1] = Math.floor(value / HIGH);
  }
  return bytesOf(halves);
}

function readBooleans(blocks: Buffer, sections: readonly FoundSection[], nulls: Nulls): ReturnType<Reader> {
  const bits = Buffer.alloc(bitmapBytes(nulls.rows));
  let row = 0;
  for (const { at, rows } of sections)
    for (let i = at; i < at + rows; i++, row++) {
      const value = blocks[i];
      if (value === NULL_BOOLEAN) addNull(nulls, row);
      else if (value === 1) bits[row >> 3] = (bits[row >> 3] ?? 0) | (1 << (row & 7));
    }
  return { format: 'b', buffers: [bits] };
}

function bytesOf({ buffer, byteOffset, byteLength }: Int32Array | Float64Array): Buffer {
  return Buffer.from(buffer as ArrayBuffer, byteOffset, byteLength); // created here, so not shared
}
