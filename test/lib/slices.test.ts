import { expect, test } from 'vitest';
import { createSlices } from '../../src/lib/slices.ts';

/** Each item takes a millisecond of a clock that the test owns. */
function createWork(sliceMs: number) {
  const clock = { now: 0 };
  const done: string[] = [];
  const slices = createSlices(sliceMs, () => clock.now);
  const work = (item: string) => {
    clock.now++;
    done.push(item);
  };
  return { done, slices, work };
}

/** Notes every turn of the event loop among what is done, until `running` ends. */
async function noteTurns(done: string[], running: Promise<unknown>): Promise<void> {
  let ended = false;
  const note = () => {
    if (ended) return;
    done.push('|');
    setImmediate(note);
  };
  setImmediate(note);
  await running;
  ended = true;
}

/** The longest row of items between two turns. */
const longest = (done: readonly string[]) =>
  Math.max(
    ...done
      .join('')
      .split('|')
      .map((run) => run.length),
  );
const items = (done: readonly string[]) => done.filter((item) => item !== '|').join('');

test('does the items in order and lets others in after each slice', async () => {
  const { done, slices, work } = createWork(3);
  await noteTurns(done, slices.forEach([...'abcdefgh'], work));
  expect(items(done)).toBe('abcdefgh');
  expect(longest(done)).toBe(3);
});

test('callers that come together are served one after another and share the slices', async () => {
  const { done, slices, work } = createWork(3);
  const all = [...'abcdefgh'].map((item) => slices.forEach([item, item.toUpperCase()], work));
  await noteTurns(done, Promise.all(all));
  expect(items(done)).toBe('aAbBcCdDeEfFgGhH');
  expect(longest(done)).toBe(3);
});

test('work that throws ends there, and the next caller is served', async () => {
  const { done, slices, work } = createWork(3);
  const fail = () => {
    throw new Error('no');
  };
  const first = slices.forEach(['a'], fail);
  const second = slices.forEach(['b'], work);
  await expect(first).rejects.toThrow('no');
  await second;
  expect(done).toEqual(['b']);
});
