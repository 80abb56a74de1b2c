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

export const NULL_LENGTH = -1;
export const NULL_BOOLEAN = 2;
export const LENGTH_BYTES = 4;
export const NUMBER_BYTES = 8;

/** Collects the values of one column. */
interface Section {
  /** A value of the column's kind, or null. */
  add(value: unknown): void;
  /** Fixes the content, and returns its bytes. Called once, before `write`. */
  measure(): number;
  /** @returns the index after it */
  write(target: Buffer, at: number): number;
}

const SECTIONS: Readonly<Record<BlockKind, () => Section>> = {
  text: createText,
  integer: createNumbers,
  number: createNumbers,
  micros: createNumbers,
  boolean: createBooleans,
};

/** Writes rows as a block. */
export interface BlockWriter {
  /** Adds a row: a value for each column, of its kind or null. */
  add(values: readonly unknown[]): void;
  /** Returns the block of the rows. Nothing can be added afterwards. */
  finish(): Buffer;
}

export function createBlockWriter(columns: readonly BlockColumn[]): BlockWriter {
  const sections = columns.map(({ kind }) => SECTIONS[kind]());
  let rows = 0;
  return {
    add(values) {
      rows++;
      for (const [i, section] of sections.entries()) section.add(values[i]);
    },
    finish() {
      const bytes = sections.reduce((sum, section) => sum + section.measure(), LENGTH_BYTES);
      const block = Buffer.allocUnsafeSlow(bytes); // not from the shared pool, so that the block can move to another thread
      let at = block.writeUInt32LE(rows, 0);
      for (const section of sections) at = section.write(block, at);
      return block;
    },
  };
}

function createText(): Section {
  let values: (string | null)[] = [];
  let text = '';
  let bytes = 0;
  return {
    add(value) {
      values.push(typeof value === 'string' ? value : null);
    },
    measure() {
      text = values.join('');
      bytes = Buffer.byteLength(text);
      if (bytes !== text.length) {
        // Half a surrogate pair has no UTF-8 form, and must not become a whole one with its neighbour's.
        values = values.map((value) => value?.toWellFormed() ?? null);
        text = values.join('');
        bytes = Buffer.byteLength(text);
      }
      return LENGTH_BYTES * (1 + values.length) + bytes;
    },
    write(target, start) {
      const isAscii = bytes === text.length;
      let at = target.writeUInt32LE(bytes, start);
      for (const value of values) at = target.writeInt32LE(lengthOf(value, isAscii), at);
      return at + target.write(text, at, isAscii ? 'latin1' : 'utf8');
    },
  };
}

function lengthOf(value: string | null, isAscii: boolean): number {
  if (value === null) return NULL_LENGTH;
  return isAscii ? value.length : Buffer.byteLength(value);
}

function createNumbers(): Section {
  const values: number[] = [];
  return {
    add(value) {
      values.push(typeof value === 'number' ? value : Number.NaN);
    },
    measure: () => NUMBER_BYTES * values.length,
    write(target, start) {
      let at = start;
      for (const value of values) at = target.writeDoubleLE(value, at);
      return at;
    },
  };
}

function createBooleans(): Section {
  const values: number[] = [];
  return {
    add(value) {
      values.push(typeof value === 'boolean' ? Number(value) : NULL_BOOLEAN);
    },
    measure: () => values.length,
    write(target, start) {
      for (const [i, value] of values.entries()) target[start + i] = value;
      return start + values.length;
    },
  };
}
