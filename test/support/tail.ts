import { EventSourceParserStream } from 'eventsource-parser/stream';
import { PRIVATE_KEY } from './service.ts';

/** Opens a live tail; without a key or cookie, with the private key. When it resolves, the service follows the question. */
export async function openTail(url: string, path: string, headers: Readonly<Record<string, string>> = {}) {
  const credential = 'cookie' in headers ? {} : { 'x-api-key': PRIVATE_KEY };
  const aborting = new AbortController();
  const response = await fetch(url + path, {
    headers: { ...credential, accept: 'text/event-stream', ...headers },
    signal: aborting.signal,
  });
  if (response.status !== 200 || response.body === null) throw new Error(await response.text());
  const events = response.body
    .pipeThrough(new TextDecoderStream() as ReadableWritablePair<string, Uint8Array>)
    .pipeThrough(new EventSourceParserStream())
    .getReader();
  return {
    headers: response.headers,
    /** The next events, as many as are asked for; fewer if the tail ends. */
    async next(count: number) {
      const taken: { event: string; id: string; data: Record<string, unknown> }[] = [];
      while (taken.length < count) {
        const { value, done } = await events.read();
        if (done) break;
        const { event = '', id = '', data } = value;
        taken.push({ event, id, data: JSON.parse(data) as Record<string, unknown> });
      }
      return taken;
    },
    close: () => aborting.abort(),
  };
}
