import { once } from 'node:events';
import { createWriteStream } from 'node:fs';

/** Request events of `cloudflare.logs.prod`, a second apart, the last a minute ago; ids are `e0`, `e1` and on. */
export function edgeEvents(count: number, project = 'p1'): object[] {
  const last = Date.now() - 60_000;
  return Array.from({ length: count }, (_, i) => ({
    id: `e${i}`,
    timestamp: new Date(last - (count - 1 - i) * 1000).toISOString(),
    project,
    event_message: `GET /rest/v1/${i}`,
    metadata: {
      request: { method: 'GET', path: `/rest/v1/${i}`, url: `https://${project}.example.com/rest/v1/${i}` },
    },
  }));
}

export function toNdjson(events: readonly object[]): string {
  return events.map((event) => `${JSON.stringify(event)}\n`).join('');
}

/** A file large enough that loading it takes seconds: `count` events, all within the last day. */
export async function writeManyEvents(file: string, count: number): Promise<void> {
  const stream = createWriteStream(file);
  const timestamp = new Date(Date.now() - 60_000).toISOString();
  const path = `/rest/v1/${'x'.repeat(500)}`;
  for (let i = 0; i < count; i += 1000) {
    let text = '';
    for (let j = i; j < Math.min(i + 1000, count); j++)
      text += `{"id":"e${j}","timestamp":"${timestamp}","project":"many","metadata":{"request":{"path":"${path}"}}}\n`;
    if (!stream.write(text)) await once(stream, 'drain');
  }
  stream.end();
  await once(stream, 'finish');
}
