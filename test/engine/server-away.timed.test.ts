import { afterAll, afterEach, expect, test } from 'vitest';
import { openServerEngine } from '../../src/engine/server/server.ts';
import { startFaultyProxy } from '../../trial/faulty-proxy.ts';
import { ownFront } from '../support/front.ts';
import { addressOf } from '../support/server-engine.ts';
import { SERVER_SIZE } from './open.ts';

const front = await ownFront();
const proxy = await startFaultyProxy(front.port);
const reached: boolean[] = [];
const engine = await openServerEngine({
  ...SERVER_SIZE,
  address: addressOf(proxy.url),
  pingPauseMs: 100,
  onReach: (isUp) => reached.push(isUp),
});
const untilState = (state: string) => expect.poll(() => engine.gauges().state).toBe(state);
afterEach(async () => {
  proxy.fault = { kind: 'none' };
  await untilState('up');
  reached.length = 0;
});
afterAll(async () => {
  await engine.close();
  await proxy.close();
});

const ask = () => engine.query('SELECT 1', {}, { format: 'TSVRaw' });
const AWAY = { code: 'engine_unavailable', message: 'the engine is not available', retryAfterSeconds: 1 };

test.each(['silent', 'refuse'] as const)(
  'a server that is %s fails waiting and new requests at once, and is in use again when it answers',
  async (kind) => {
    proxy.fault = { kind };
    if (kind === 'refuse') proxy.reset();
    const waiting = [ask(), ask(), ask()].map((work) => expect(work).rejects.toMatchObject(AWAY));
    await untilState('unreachable');
    await Promise.all(waiting);
    await expect(ask()).rejects.toMatchObject(AWAY);
    expect(reached).toEqual([false]);

    proxy.fault = { kind: 'none' };
    await untilState('up');
    expect((await ask()).bytes.toString()).toBe('1\n');
    expect(reached).toEqual([false, true]);
    await expect.poll(() => engine.gauges()).toMatchObject({ state: 'up', running: 0, queued: 0 });
  },
);
