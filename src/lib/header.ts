import { isUtf8 } from 'node:buffer';
import { TailraceError } from '../errors.ts';

type Headers = Readonly<Record<string, string | readonly string[] | undefined>>;

/**
 * Returns the text of a header, which senders write as UTF-8; `undefined` if it is missing or empty.
 *
 * @param name in lower case
 * @throws TailraceError `invalid_request` if it is not UTF-8: a guess could name another project or caller
 */
export function headerOf({ headers }: { readonly headers: Headers }, name: string): string | undefined {
  const value = headers[name];
  if (typeof value !== 'string' || value === '') return undefined;
  if (!NOT_ASCII.test(value)) return value;
  const bytes = Buffer.from(value, 'latin1'); // as Node has read them
  if (isUtf8(bytes)) return bytes.toString();
  const message = `the header ${name} is not UTF-8: encode it so; many clients send ISO 8859-1 by themselves`;
  throw new TailraceError('invalid_request', message);
}

const NOT_ASCII = /[\x80-\xff]/;

/** Writes a text for a header, which `fetch` sends as a byte a character. */
export function writeHeader(text: string): string {
  return Buffer.from(text).toString('latin1');
}
