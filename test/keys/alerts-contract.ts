import { describe, expect, test } from 'vitest';
import type { AlertWrite } from '../../src/keys/alerts/alert-record.ts';
import type { AlertStore } from '../../src/keys/alerts/alert-store.ts';

const LIFE_MS = 60_000;
const SILENCE = {
  ...{ id: 's', alert: 'a', labels: '{}', untilMs: 2_000, comment: 'maintenance', author: 'cli' },
  createdMs: 1_000,
};
const WRITE: Omit<AlertWrite, 'fence'> = {
  ...{ alert: 'a', state: '{"failures":0}', history: [], messages: [], atMs: 1_000, isDurable: false },
};

/** What alerts need of every control store. @param open opens a new store as two processes */
export function alertStoreContract(open: () => Promise<readonly [AlertStore, AlertStore]>): void {
  describe('alerts', () => {
    test('only the process that holds the lease writes, even if it does not know that it has lost it', async () => {
      const [one, other] = await open();
      const first = (await one.lease('one', LIFE_MS)) ?? 0;
      expect(await one.lease('one', LIFE_MS)).toBe(first);
      expect(await other.lease('other', LIFE_MS)).toBeUndefined();
      expect(await one.write({ ...WRITE, fence: first })).toBe(true);
      await one.release('one');
      const second = (await other.lease('other', LIFE_MS)) ?? 0;
      expect(second).toBeGreaterThan(first);
      expect(await one.lease('one', LIFE_MS)).toBeUndefined();
      const late = {
        ...WRITE,
        state: '{"failures":1}',
        messages: [{ id: '1', receiver: 'r', message: '{}' }],
      };
      expect(await one.write({ ...late, fence: first })).toBe(false);
      expect([...(await other.readStates())]).toEqual([['a', WRITE.state]]);
      expect(await other.nextMessage('r', 1e13)).toBeUndefined();
    });

    test('a lease that is not renewed can be taken', async () => {
      const [one, other] = await open();
      await one.lease('one', 1);
      await expect.poll(() => other.lease('other', LIFE_MS)).toBeGreaterThan(1);
    });

    test('a write has its state, its history and its messages', async () => {
      const [one, other] = await open();
      const fence = (await one.lease('one', LIFE_MS)) ?? 0;
      const history = ['1', '2', '3'].map((id) => ({ id, atMs: Number(id), entry: `"${id}"` }));
      const messages = ['1', '2'].map((id) => ({ id, receiver: 'r', message: '{}' }));
      await one.write({ ...WRITE, fence, history, messages });
      expect(await other.listHistory('a', { limit: 2 })).toEqual([history[2], history[1]]);
      expect(await other.listHistory('a', { limit: 2, before: '2' })).toEqual([history[0]]);
      const message = { alert: 'a', receiver: 'r', message: '{}', tries: 0, firstMs: 1_000, reason: '' };
      expect(await other.nextMessage('r', 1_000)).toEqual({ id: '1', ...message });
      await one.postponeMessage('1', 5_000, 'refused');
      expect(await other.nextMessage('r', 1_000)).toEqual({ id: '2', ...message });
      const entry = { id: '4', atMs: 4, entry: '"gone"' };
      const changed = [{ id: '1', message: '{"rest":1}' }];
      await one.endMessage({ id: '2', alert: 'a', entry, changed });
      expect(await other.nextMessage('r', 1_000)).toBeUndefined();
      const postponed = { id: '1', ...message, message: '{"rest":1}', tries: 1, reason: 'refused' };
      expect(await other.listMessages('r', 'a')).toEqual([postponed]);
      expect(await other.listMessages('r', 'b')).toEqual([]);
      expect(await other.nextMessage('r', 5_000)).toEqual(postponed);
      // The clock has been set back by days.
      expect(await other.nextMessage('r', 5_000 - 864e5)).toEqual(postponed);
      const last = { ...entry, id: '5' };
      for (const _ of [1, 2]) await one.endMessage({ id: '1', alert: 'a', entry: last, changed: [] });
      expect(await other.nextMessage('r', 5_000)).toBeUndefined();
      expect(await other.listHistory('a', { limit: 2 })).toEqual([last, entry]);
      await one.write({ ...WRITE, fence, state: undefined });
      expect((await other.readStates()).size).toBe(0);
    });

    test('silences are listed until they end, which leaves room for others', async () => {
      const [one, other] = await open();
      const add = (id: string, createdMs: number, untilMs: number) =>
        one.addSilence({ ...SILENCE, id, createdMs, untilMs });
      for (let i = 0; i < 1_000; i++) expect(await add(`s${i}`, 1_000, 2_000)).toBe(true);
      expect(await add('refused', 1_999, 3_000)).toBe(false);
      expect(await other.listSilences(1_999)).toHaveLength(1_000);
      expect(await add('accepted', 2_000, 3_000)).toBe(true);
      expect((await other.listSilences(2_000)).map(({ id }) => id)).toEqual(['accepted']);
    });

    test('a silence can be ended by the id of its alert and its own, once', async () => {
      const [one, other] = await open();
      await one.addSilence(SILENCE);
      expect(await other.removeSilence('b', 's')).toBeUndefined();
      expect(await other.removeSilence('a', 's')).toEqual(SILENCE);
      expect(await one.removeSilence('a', 's')).toBeUndefined();
      expect(await one.listSilences(1_500)).toEqual([]);
    });

    test('history is kept for a time, and to a bound', async () => {
      const [one] = await open();
      const fence = (await one.lease('one', LIFE_MS)) ?? 0;
      const history = Array.from({ length: 1_010 }, (_, i) => ({
        ...{ id: String(i).padStart(5, '0'), atMs: i, entry: '{}' },
      }));
      await one.write({ ...WRITE, fence, alert: 'b', history: [{ id: '0b', atMs: 1_500, entry: '{}' }] });
      await one.write({ ...WRITE, fence, history });
      expect((await one.listHistory('a', { limit: 2_000 })).map(({ id }) => id)).toEqual(
        history
          .slice(-1_000)
          .map(({ id }) => id)
          .toReversed(),
      );
      expect(await one.listHistory('b', { limit: 2 })).toHaveLength(1);
      await one.trim(1_000);
      expect((await one.listHistory('a', { limit: 2_000 })).at(-1)?.atMs).toBe(1_000);
    });
  });
}
