import type { EventSourceMessage } from 'eventsource-parser';
import { describe, expect, test } from 'vitest';
import type { Client } from '../../console/src/api/client.ts';
import { followTail } from '../../console/src/api/follow.ts';

const row = (id: string): EventSourceMessage => ({ event: 'row', id, data: id });

function toStream(events: readonly EventSourceMessage[]): ReadableStream<EventSourceMessage> {
  return new ReadableStream({
    start(controller) {
      for (const event of events) controller.enqueue(event);
      controller.close();
    },
  });
}

/** Follows tails that send these events and end; stops behind the last. @returns what happened, in order */
async function run(tails: readonly (readonly EventSourceMessage[] | Error)[]): Promise<string[]> {
  const done: string[] = [];
  const stopping = new AbortController();
  const rest = [...tails];
  const openEvents: Client['openEvents'] = async (_path, { headers } = {}) => {
    done.push(`open ${headers?.['last-event-id'] ?? ''}`);
    const tail = rest.shift() ?? [];
    if (rest.length === 0) stopping.abort();
    if (tail instanceof Error) throw tail;
    return toStream(tail);
  };
  await followTail(openEvents, '/api/search', {
    catchUp: async () => void done.push('catch up'),
    onOpen: () => undefined,
    onRows: (rows) => void done.push(`rows ${rows.join(' ')}`),
    onFailure: (error) => void done.push(`failure ${(error as Error).message}`),
    pauseMs: 0,
    signal: stopping.signal,
  });
  return done;
}

describe('a live list', () => {
  test('reads what came before the tail, takes its rows, and goes on after the last when it connects again', async () => {
    const end = { event: 'end', data: '{}' };
    expect(await run([[row('a'), row('b'), end], []])).toEqual(['open ', 'catch up', 'rows a b', 'open b']);
  });

  test('begins anew if its cursor is rejected, and goes on after it if the service was away', async () => {
    const refused = Object.assign(new Error('refused'), { status: 400 });
    const away = Object.assign(new Error('away'), { status: 0 });
    expect(await run([[row('a')], away, refused, []])).toEqual([
      ...['open ', 'catch up', 'rows a', 'open a', 'failure away', 'open a', 'failure refused', 'open '],
      'catch up',
    ]);
  });
});
