import { describe, expect, test } from 'vitest';
import { idsOf, openRaw, postHead, QUERY_PATH, sendRaw, TO_EDGE } from '../support/http.ts';
import { ownService, PRIVATE_KEY } from '../support/service.ts';

const service = await ownService({ bounds: { requestTimeoutMs: 1_000 } });
const { url, core } = service;
const PATH = `${QUERY_PATH}/logs.all?project=p1`;

describe('a client that does not send its request in time loses its connection', () => {
  test.each([
    ['nothing at all', ''],
    ['half of its first line', 'GET /heal'],
    ['all but its last line', `GET ${PATH} HTTP/1.1\r\nHost: a\r\nX-Api-Key: ${PRIVATE_KEY}\r\n`],
  ])('having sent %s', async (_what, bytes) => {
    expect(await sendRaw(url, bytes)).toMatch(/"invalid_request"[\s\S]*in time/);
  });

  test.each([
    ['header', `GET ${PATH} HTTP/1.1\r\nX-Slow: `],
    ['body', postHead(TO_EDGE, { 'content-type': 'application/x-ndjson', 'content-length': 1_000 })],
  ])('sending a %s a byte at a time, and nothing is stored', async (what, head) => {
    const { socket, closed } = await openRaw(url);
    socket.write(what === 'body' ? `${head}{"id":"1","project":"late"}\n` : head);
    const drip = setInterval(() => socket.write(' '), 50);
    await closed;
    clearInterval(drip);
    expect(await idsOf(core, 'late')).toEqual([]);
  });
});
