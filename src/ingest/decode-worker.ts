import { constants, setPriority } from 'node:os';
import { move, transferableSymbol, valueSymbol } from 'piscina';
import { type ErrorCode, messageOf, TailraceError } from '../errors.ts';
import { freeMemory, transferable } from '../lib/memory.ts';
import { type Batch, type BatchInput, decodeBatch } from './decode-batch.ts';

/** What the worker thread returns to src/ingest/decoder.ts: a structured clone would lose the code of an error. */
export type Decoded = { readonly batch: Batch } | { readonly failure: Failure };

/** `code` is that of a TailraceError; `undefined` for our own fault. */
type Failure = Pick<TailraceError, 'message' | 'errors' | 'cause'> & { readonly code: ErrorCode | undefined };

// Queries have priority: with all cores busy they would wait behind incoming events. On systems other than Linux
// this would lower the priority of the whole process.
if (process.platform === 'linux') setPriority(0, constants.priority.PRIORITY_BELOW_NORMAL);

export default function decode(input: BatchInput): unknown {
  const decoded = tryDecode(input);
  freeMemory([input.bytes]); // this thread's own; rows have buffers of their own
  const moved =
    'batch' in decoded
      ? decoded.batch.parts.flatMap(({ rows }) => rows.flatMap(({ bytes }) => transferable(bytes)))
      : [];
  return move({ [transferableSymbol]: moved, [valueSymbol]: decoded });
}

function tryDecode(input: BatchInput): Decoded {
  try {
    const { buffer, byteOffset, length } = input.bytes; // a Buffer arrives as a plain Uint8Array
    return { batch: decodeBatch({ ...input, bytes: Buffer.from(buffer, byteOffset, length) }) };
  } catch (error) {
    if (error instanceof TailraceError) {
      const { code, message, errors, cause } = error;
      return { failure: { code, message, errors, cause } };
    }
    return { failure: { code: undefined, message: messageOf(error), errors: [], cause: error } };
  }
}
