import { describe, expect, test } from 'vitest';
import type { AlertStore } from '../../src/keys/alerts/alert-store.ts';
import type { AlertWrite } from '../../src/keys/alerts/alert-write.ts';
import { copyAlerts } from '../../src/keys/alerts/copy-alerts.ts';

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

    test('the outbox is counted by receiver, with the time of its oldest message', async () => {
      const [one, other] = await open();
      expect(await one.readOutbox()).toEqual([]);
      for (const [id, atMs] of Object.entries({ 1: 5_000, 2: 4_000 }))
        await one.addMessage({ id, receiver: 'a', message: '{}' }, atMs);
      expect(await other.readOutbox()).toEqual([{ receiver: 'a', messages: 2, oldestMs: 4_000 }]);
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
      const message = { receiver: 'r', message: '{}', tries: 0, firstMs: 1_000, reason: '' };
      expect(await other.nextMessage('r', 1_000)).toEqual({ id: '1', ...message });
      await one.postponeMessage('1', { dueMs: 5_000, reason: 'refused' });
      expect(await other.nextMessage('r', 1_000)).toEqual({ id: '2', ...message });
      await one.removeMessage('2');
      expect(await other.nextMessage('r', 1_000)).toBeUndefined();
      const postponed = { id: '1', ...message, tries: 1, reason: 'refused' };
      expect(await other.nextMessage('r', 5_000)).toEqual(postponed);
      // The clock has been set back by days.
      expect(await other.nextMessage('r', 5_000 - 864e5)).toEqual(postponed);
      for (const _ of [1, 2]) await one.dropMessage('1', 'a', { id: '4', atMs: 4, entry: '"gone"' });
      expect(await other.nextMessage('r', 5_000)).toBeUndefined();
      expect(await other.listHistory('a', { limit: 1 })).toEqual([{ id: '4', atMs: 4, entry: '"gone"' }]);
      await one.write({ ...WRITE, fence, state: undefined });
      expect((await other.readStates()).size).toBe(0);
    });

    test('a copy has all that another store has, once', async () => {
      const [from, to] = [(await open())[0], (await open())[0]];
      const stateAt = (tickMs: number) => JSON.stringify({ name: 'a', state: { tickMs } });
      const write = async (store: AlertStore, more: Partial<AlertWrite>) =>
        store.write({ ...WRITE, ...more, fence: (await store.lease('one', LIFE_MS)) ?? 0 });
      const history = Array.from({ length: 250 }, (_, i) => ({
        ...{ id: String(i).padStart(5, '0'), atMs: i, entry: `"${i}"` },
      }));
      const messages = ['m1', 'm2'].map((id) => ({ id, receiver: 'ops', message: '{"alertId":"a"}' }));
      await write(from, { state: stateAt(5), history, messages });
      await write(from, { alert: 'b', state: stateAt(5) });
      await from.addSilence(SILENCE);
      await from.postponeMessage('m1', { dueMs: 9_000, reason: '500' });
      await write(to, { alert: 'b', state: stateAt(7) });

      expect(await copyAlerts(from, to)).toEqual({ added: 1 + 250 + 1 + 2, left: 1 });
      expect(new Map(await to.readStates())).toEqual(
        new Map([
          ['a', stateAt(5)],
          ['b', stateAt(7)],
        ]),
      );
      expect(await to.listSilences(1_000)).toEqual([SILENCE]);
      const note = { change: 'note', reason: expect.stringContaining('a message to ops was copied') };
      const [last, before, ...copied] = await to.listHistory('a', { limit: 300 });
      expect([last, before].map((one) => JSON.parse(one?.entry ?? ''))).toEqual([note, note]);
      expect(copied).toEqual(history.toReversed());
      expect(await to.nextMessage('ops', 8_999)).toMatchObject({ id: 'm2', tries: 0, firstMs: 1_000 });
      await to.removeMessage('m2'); // sent
      expect(await to.nextMessage('ops', 8_999)).toBeUndefined();
      expect(await to.nextMessage('ops', 9_000)).toMatchObject({ id: 'm1', tries: 1 });

      await write(from, { state: stateAt(6) });
      expect(await copyAlerts(from, to)).toEqual({ added: 1, left: 254 });
      expect((await to.readStates()).get('a')).toBe(stateAt(6));
      expect(await to.nextMessage('ops', 8_999)).toBeUndefined();
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

    test('texts of callers may have a NUL', async () => {
      const [one] = await open();
      expect(await one.addSilence({ ...SILENCE, comment: 'a\0b' })).toBe(true);
      expect(await one.listSilences(1_500)).toMatchObject([{ comment: expect.stringMatching(/^a.b$/s) }]);
      expect(await one.removeSilence('a', 's\0')).toBeUndefined();
      expect(await one.listHistory('a', { limit: 1, before: '\0' })).toEqual([]);
    });

    test('a silence can be ended by the id of its alert and its own, once', async () => {
      const [one, other] = await open();
      await one.addSilence(SILENCE);
      expect(await other.removeSilence('b', 's')).toBeUndefined();
      expect(await other.removeSilence('a', 's')).toEqual(SILENCE);
      expect(await one.removeSilence('a', 's')).toBeUndefined();
      expect(await one.listSilences(1_500)).toEqual([]);
    });

    test('points are the extremes of five minutes, for a day, of one measure, of the process with the lease', async () => {
      const [one, other] = await open();
      const fence = (await one.lease('one', LIFE_MS)) ?? 0;
      const dayMs = 86_400_000;
      const all = { measure: 'm', fromMs: 0, untilMs: 9 * dayMs };
      const see = (atMs: number, low: number, high: number, measure = 'm') =>
        one.write({ ...WRITE, fence, point: { measure, atMs, low, high } });
      await see(300_000, 1, 5);
      await see(360_000, 2.5, 7.5);
      await see(420_000, 0, 1);
      await see(600_000, 3, 3);
      expect(await other.listPoints('a', all)).toEqual([
        { atMs: 420_000, low: 0, high: 7.5 },
        { atMs: 600_000, low: 3, high: 3 },
      ]);
      expect(await other.listPoints('a', { ...all, fromMs: 420_001 })).toHaveLength(1);
      expect(
        await other.write({ ...WRITE, fence: fence - 1, point: { ...all, atMs: 1, low: 9, high: 9 } }),
      ).toBe(false);
      // The same five minutes of the next day replace those of this one, and so does another measure.
      await see(300_000 + dayMs, 4, 4);
      await see(660_000, 8, 8, 'other');
      expect(await other.listPoints('a', all)).toEqual([{ atMs: 300_000 + dayMs, low: 4, high: 4 }]);
      for (let i = 0; i < 300; i++) await see(i * 300_000, i, i);
      expect(await other.listPoints('a', all)).toHaveLength(288);
      await one.write({ ...WRITE, fence, state: undefined });
      expect(await other.listPoints('a', all)).toEqual([]);
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
