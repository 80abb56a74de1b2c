import { expect, test } from 'vitest';
import { createBackground } from '../../src/lib/background.ts';

test('the end waits for all that goes on, whatever becomes of it, and for what that begins', async () => {
  const background = createBackground();
  const ended: string[] = [];
  let end = () => {};
  const first = new Promise<void>((resolve) => {
    end = resolve;
  }).then(() => {
    background.run(Promise.resolve().then(() => ended.push('second')));
    ended.push('first');
  });
  background.run(first);
  background.run(Promise.reject(new Error('is nobody’s')));
  const idle = background.idle().then(() => ended.push('idle'));
  end();
  await idle;
  expect(ended).toEqual(['first', 'second', 'idle']);
  await background.idle();
});
