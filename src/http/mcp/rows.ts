const [QUOTE, BACKSLASH, OPEN, CLOSE] = Buffer.from('"\\{}');

/** The first rows of an answer in JSON. */
export interface FirstRows {
  /** Joined by commas. */
  readonly text: string;
  readonly rows: number;
}

/**
 * Cuts the whole rows out of the first bytes of an answer in JSON; no row is parsed.
 *
 * @param rows of the answer
 */
export function takeRows(
  { body, rows }: { readonly body: Buffer; readonly rows: number },
  bytesMax: number,
): FirstRows {
  const bytes = body.subarray(body.indexOf('[') + 1, body.lastIndexOf(']')); // of `{"result":[…]}`
  if (bytes.length <= bytesMax) return { text: bytes.toString(), rows };
  const first = bytes.subarray(0, bytesMax);
  let taken = 0;
  let end = 0;
  for (let next = findRowEnd(first, 0); next !== undefined; next = findRowEnd(first, end + 1)) {
    taken++;
    end = next; // a comma follows
  }
  return { text: first.toString('utf8', 0, end), rows: taken };
}

/** Returns the offset after the row that begins at `start`; `undefined` if the row is not whole. */
function findRowEnd(bytes: Buffer, start: number): number | undefined {
  let depth = 0;
  for (let at = start; at < bytes.length; at++) {
    const byte = bytes[at];
    if (byte === QUOTE) at = skipText(bytes, at);
    else if (byte === OPEN) depth++;
    else if (byte === CLOSE && --depth === 0) return at + 1;
  }
  return undefined;
}

/** Returns the offset of the quotation mark that ends the text. */
function skipText(bytes: Buffer, start: number): number {
  let at = start + 1;
  while (at < bytes.length && bytes[at] !== QUOTE) at += bytes[at] === BACKSLASH ? 2 : 1;
  return at;
}
