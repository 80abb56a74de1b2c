import type { IncomingMessage } from 'node:http';

/**
 * What is wrong with the head of a request that Node's parser takes; `undefined` where nothing is. Asked by both ways of
 * answering, so that they refuse the same (RFC 9112, 3.2 and 6.1): a proxy in front may read such a head in another way.
 */
export function findHeadFault({ httpVersion, headers, rawHeaders }: IncomingMessage): string | undefined {
  if (headers.host === undefined && httpVersion === '1.1')
    return 'the Host header is missing, which HTTP/1.1 requires';
  if (countHosts(rawHeaders) > 1) return 'there is more than one Host header; send one';
  const encoding = headers['transfer-encoding'];
  if (encoding !== undefined && encoding.toLowerCase() !== 'chunked')
    return `Transfer-Encoding: ${JSON.stringify(encoding.slice(0, SHOWN_CHARS_MAX))} is not supported; send chunked, or a Content-Length`;
  return undefined;
}

const SHOWN_CHARS_MAX = 100;

/** @param rawHeaders names and values by turns */
function countHosts(rawHeaders: readonly string[]): number {
  let count = 0;
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = rawHeaders[at] ?? '';
    if (name.length === 'host'.length && name.toLowerCase() === 'host') count++;
  }
  return count;
}
