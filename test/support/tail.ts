import { EventSourceParserStream } from 'eventsource-parser/stream';
import { PRIVATE_KEY } from './service.ts';

/** An event of a live tail. */
export interface TailEvent {
  readonly event: string;
  readonly id: string;
  readonly data: Record<string, unknown>;
}

/** A live tail that is open. */
export interface OpenTail {
  readonly headers: Headers;
  /** The next events, as many as are asked for; fewer if the tail ends. */
  next(count: number): Promise<TailEvent[]>;
  close(): void;
}

/** Opens a live tail; without a key or cookie, with the private key. When it resolves, the service follows the question. */
export async function openTail(
  url: string,
  path: string,
  headers: Readonly<Record<string, string>> = {},
): Promise<OpenTail> {
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
    async next(count) {
      const taken: TailEvent[] = [];
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
