import type { IncomingMessage } from 'node:http';

/** All headers of a request together. Node's own bound is on them and the URL, which is much longer. */
export const HEADERS_CHARS_MAX = 32 * 1024;
/** Of headers that are negotiated by, in a time that grows with the square of their length. Browsers send some hundred. */
export const NEGOTIATED_CHARS_MAX = 2_048;
const NEGOTIATED = ['accept', 'accept-encoding'] as const;

/**
 * What is wrong with the head of a request that Node's parser takes; `undefined` where nothing is. Asked by both ways of
 * answering, so that they refuse the same (RFC 9112, 3.2 and 6.1): a proxy in front may read such a head in another way.
 */
export function findHeadFault({ httpVersion, headers, rawHeaders }: IncomingMessage): string | undefined {
  if (headers.host === undefined && httpVersion === '1.1')
    return 'the Host header is missing, which HTTP/1.1 requires';
  const { hosts, chars } = measure(rawHeaders);
  if (hosts > 1) return 'there is more than one Host header; send one';
  if (chars > HEADERS_CHARS_MAX) return `the headers together exceed ${HEADERS_CHARS_MAX} characters`;
  const long = NEGOTIATED.find((name) => (headers[name]?.length ?? 0) > NEGOTIATED_CHARS_MAX);
  if (long !== undefined) return `the header ${long} is longer than ${NEGOTIATED_CHARS_MAX} characters`;
  const encoding = headers['transfer-encoding'];
  if (encoding !== undefined && encoding.toLowerCase() !== 'chunked')
    return `Transfer-Encoding: ${JSON.stringify(encoding.slice(0, SHOWN_CHARS_MAX))} is not supported; send chunked, or a Content-Length`;
  return undefined;
}

const SHOWN_CHARS_MAX = 100;

/** @param rawHeaders names and values by turns */
function measure(rawHeaders: readonly string[]): { hosts: number; chars: number } {
  let hosts = 0;
  let chars = 0;
  for (const [at, text] of rawHeaders.entries()) {
    chars += text.length;
    if (at % 2 === 0 && text.length === 'host'.length && text.toLowerCase() === 'host') hosts++;
  }
  return { hosts, chars };
}
