import {
  type BlockColumn,
  type BlockKind,
  LENGTH_BYTES,
  NULL_BOOLEAN,
  NULL_LENGTH,
  NUMBER_BYTES,
} from '../row-block.ts';

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

/** Collects one column of several blocks. */
interface Builder {
  /** Reads the column's section of a block that begins at `at`. @returns the index after it */
  read(block: Buffer, at: number, rows: number): number;
  finish(): Pick<ArrowColumn, 'format' | 'buffers'>;
}

const BUILDERS: Readonly<Record<BlockKind, (nulls: Nulls) => Builder>> = {
  text: createText,
  integer: (nulls) => createIntegers(nulls, 'l'),
  micros: (nulls) => createIntegers(nulls, 'tsu:UTC'),
  number: createNumbers,
  boolean: createBooleans,
};

/** Joins blocks of rows, one after the other in `blocks`, column by column. @throws RangeError if they end too soon */
export function toArrow(blocks: Buffer, columns: readonly BlockColumn[]): ArrowColumn[] {
  const rows = countRows(blocks, columns);
  const building = columns.map(({ name, kind }) => {
    const nulls = createNulls(rows);
    return { name, nulls, builder: BUILDERS[kind](nulls) };
  });
  for (let at = 0; at < blocks.length; ) {
    const blockRows = blocks.readUInt32LE(at);
    at += LENGTH_BYTES;
    for (const { builder } of building) at = builder.read(blocks, at, blockRows);
  }
  return building.map(({ name, nulls, builder }) => {
    const { format, buffers } = builder.finish();
    return { name, format, length: rows, nullCount: nulls.count, buffers: [nulls.bitmap(), ...buffers] };
  });
}

const SECTION_BYTES: Readonly<Record<BlockKind, (blocks: Buffer, at: number, rows: number) => number>> = {
  text: (blocks, at, rows) => LENGTH_BYTES * (1 + rows) + blocks.readUInt32LE(at),
  integer: (_blocks, _at, rows) => NUMBER_BYTES * rows,
  number: (_blocks, _at, rows) => NUMBER_BYTES * rows,
  micros: (_blocks, _at, rows) => NUMBER_BYTES * rows,
  boolean: (_blocks, _at, rows) => rows,
};

function countRows(blocks: Buffer, columns: readonly BlockColumn[]): number {
  let all = 0;
  for (let at = 0; at < blocks.length; ) {
    const rows = blocks.readUInt32LE(at);
    all += rows;
    at += LENGTH_BYTES;
    for (const { kind } of columns) at += SECTION_BYTES[kind](blocks, at, rows);
  }
  return all;
}

/** Which rows of a column are null. */
interface Nulls {
  readonly rows: number;
  readonly count: number;
  add(row: number): void;
  bitmap(): Buffer | null;
}

function createNulls(rows: number): Nulls {
  let bits: Buffer | undefined;
  let count = 0;
  return {
    rows,
    get count() {
      return count;
    },
    add(row) {
      bits ??= Buffer.alloc(bitmapBytes(rows), 0xff);
      bits[row >> 3] = (bits[row >> 3] ?? 0) & ~(1 << (row & 7));
      count++;
    },
    bitmap: () => bits ?? null,
  };
}

function bitmapBytes(rows: number): number {
  return Math.ceil(rows / 8);
}

function createText(nulls: Nulls): Builder {
  const offsets = new Int32Array(nulls.rows + 1);
  const parts: Buffer[] = [];
  let row = 0;
  let end = 0;
  return {
    read(block, start, rows) {
      const bytes = block.readUInt32LE(start);
      let at = start + LENGTH_BYTES;
      for (const last = row + rows; row < last; at += LENGTH_BYTES) {
        const length = block.readInt32LE(at);
        if (length === NULL_LENGTH) nulls.add(row);
        else end += length;
        offsets[++row] = end;
      }
      parts.push(block.subarray(at, at + bytes));
      return at + bytes;
    },
    finish: () => ({ format: 'u', buffers: [bytesOf(offsets), Buffer.concat(parts)] }),
  };
}

const HIGH = 2 ** 32;

/** Whole numbers between ±2^53, as 64-bit integers: two halves, since a BigInt for each value takes many times as long. */
function createIntegers(nulls: Nulls, format: string): Builder {
  const halves = new Int32Array(2 * nulls.rows);
  let row = 0;
  return {
    read(block, start, rows) {
      let at = start;
      for (const last = row + rows; row < last; row++, at += NUMBER_BYTES) {
        const value = block.readDoubleLE(at);
        if (Number.isNaN(value)) nulls.add(row);
        halves[2 * row] = value;
        halves[2 * row + 1] = Math.floor(value / HIGH);
      }
      return at;
    },
    finish: () => ({ format, buffers: [bytesOf(halves)] }),
  };
}

function createNumbers(nulls: Nulls): Builder {
  const values = new Float64Array(nulls.rows);
  let row = 0;
  return {
    read(block, start, rows) {
      let at = start;
      for (const last = row + rows; row < last; row++, at += NUMBER_BYTES) {
        const value = block.readDoubleLE(at);
        if (Number.isNaN(value)) nulls.add(row);
        values[row] = value + 0; // -0 becomes 0, as in JSON
      }
      return at;
    },
    finish: () => ({ format: 'g', buffers: [bytesOf(values)] }),
  };
}

function createBooleans(nulls: Nulls): Builder {
  const bits = Buffer.alloc(bitmapBytes(nulls.rows));
  let row = 0;
  return {
    read(block, start, rows) {
      let at = start;
      for (const last = row + rows; row < last; row++, at++) {
        const value = block.readUInt8(at);
        if (value === NULL_BOOLEAN) nulls.add(row);
        else if (value === 1) bits[row >> 3] = (bits[row >> 3] ?? 0) | (1 << (row & 7));
      }
      return at;
    },
    finish: () => ({ format: 'b', buffers: [bits] }),
  };
}

function bytesOf({ buffer, byteOffset, byteLength }: Int32Array | Float64Array): Buffer {
  return Buffer.from(buffer as ArrayBuffer, byteOffset, byteLength); // created here, so not shared
}
