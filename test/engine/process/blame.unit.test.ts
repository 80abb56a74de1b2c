import { expect, test } from 'vitest';
import { createBlame, type Sent } from '../../../src/engine/process/blame.ts';
import type { EngineEnd } from '../../../src/engine/process/channel.ts';
import type { EngineProcess } from '../../../src/engine/process/engine-process.ts';

const createProcess = (pid: number): EngineProcess => ({
  pid,
  ended: new Promise(() => {}),
  ask: () => Promise.reject(new Error('unused')),
  kill: () => {},
});
const process = createProcess(1);

/** The queries that may have caused the end, of those sent at these instants. */
function blame(sentMs: Readonly<Record<string, number>>, end?: EngineEnd): string[] {
  const running = new Map<string, Sent>(
    Object.entries(sentMs).map(([tag, ms]) => [tag, { process, lane: 'key', sentMs: ms }]),
  );
  running.set('elsewhere', { process: createProcess(2), lane: 'key', sentMs: 0 });
  return [...createBlame(running)(process, end).tags];
}

test('after a crash, or for want of memory, each query that ran may be the cause', () => {
  expect(blame({ a: 1, b: 2 })).toEqual(['a', 'b']);
  expect(blame({ a: 1, b: 2 }, { reason: 'memory' })).toEqual(['a', 'b']);
});

test('a stuck query is the cause while heartbeats are answered, and no other', () => {
  expect(blame({ a: 1, b: 2 }, { reason: 'stuck', culprit: 'b' })).toEqual(['b']);
  expect(blame({ a: 1, b: 2 }, { reason: 'stuck', culprit: "a statement of the service's own" })).toEqual([]);
});

test('of a silence the cause is the first query that was sent after the last heartbeat that was answered', () => {
  const silence = { afterMs: 1_000, beforeMs: 2_000 };
  const sent = { long: 500, attack: 1_300, behind: 1_310, later: 2_001 };
  expect(blame(sent, { reason: 'silent', silence })).toEqual(['attack']);
  // The deadline of one that waits may be over before that of the one that it waits for.
  expect(blame(sent, { reason: 'stuck', culprit: 'behind', silence })).toEqual(['attack']);
});
