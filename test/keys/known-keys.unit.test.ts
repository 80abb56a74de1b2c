import { describe, expect, test } from 'vitest';
import { TailraceError } from '../../src/errors.ts';
import type { KeyRecord } from '../../src/keys/grant.ts';
import { createKnown } from '../../src/keys/known-keys.ts';

const STALE_MS = 60_000;
const FRESH_MS = 1_500;
const ID = '0123456789ab';
const OTHER = 'ba9876543210';
const TIMES = { createdMs: 1, revokedMs: undefined, lastUsedMs: undefined };
const RECORD: KeyRecord = {
  ...{ id: ID, name: 'a', description: '', hash: new Uint8Array(32), scopes: ['query'], pins: {} },
  ...{ ...TIMES, successor: undefined },
};

/** Over a store that answers when the test says so, if it is there. */
function setUp() {
  const state = { ageMs: 0, isAway: false, record: RECORD as KeyRecord | undefined, reads: 0 };
  let gate: Promise<void> = Promise.resolve();
  const hold = () => {
    const { promise, resolve } = Promise.withResolvers<void>();
    gate = promise;
    return resolve;
  };
  const known = createKnown<KeyRecord>({
    async read(id) {
      state.reads++;
      const { record } = state; // what a query sees is what there was when it began
      await gate;
      if (state.isAway) throw new TailraceError('engine_unavailable', 'away');
      return id === ID ? record : undefined;
    },
    ageMs: () => state.ageMs,
    isDown: () => state.isAway,
    ...{ freshMs: FRESH_MS, staleMs: STALE_MS, max: 10_000, ticks: () => 0 },
  });
  return { known, state, hold };
}

describe('a key', () => {
  test('is read once, also for many at the same time, until something changes', async () => {
    const { known, state } = setUp();
    const all = await Promise.all(Array.from({ length: 100 }, () => known.find(ID)));
    expect(all.every((one) => one === RECORD)).toBe(true);
    expect([state.reads, known.find(ID)]).toEqual([1, RECORD]); // at once
    known.forget();
    expect(await known.find(ID)).toBe(RECORD);
    expect(state.reads).toBe(2);
  });

  test('is read anew where it has changed, and others are not', async () => {
    const { known, state } = setUp();
    await known.find(ID);
    await known.find(OTHER);
    known.forget([OTHER]);
    expect([known.find(ID), await known.find(OTHER), state.reads]).toEqual([RECORD, undefined, 3]);
    known.forget([ID]);
    expect([await known.find(ID), state.reads]).toEqual([RECORD, 4]);
  });

  test('that was being read when something changed is read again, and nobody who comes later joins that', async () => {
    const { known, state, hold } = setUp();
    const answer = hold();
    const before = known.find(ID);
    state.record = { ...RECORD, revokedMs: 5 };
    known.forget();
    const after = known.find(ID);
    answer();
    expect((await before)?.revokedMs).toBe(5);
    expect((await after)?.revokedMs).toBe(5);
    expect(known.find(ID)).toMatchObject({ revokedMs: 5 });
  });

  test('that was seen is used for the time of the setting while the store is away, and no longer', async () => {
    const { known, state } = setUp();
    await known.find(ID);
    await known.find(OTHER);
    state.ageMs = FRESH_MS - 1;
    expect(known.find(ID)).toBe(RECORD);
    state.ageMs = FRESH_MS; // nothing was heard of the store for too long
    await known.find(ID);
    expect(state.reads).toBe(3);
    state.isAway = true;
    state.ageMs = FRESH_MS + STALE_MS - 1;
    expect(await known.find(ID)).toBe(RECORD);
    await expect(known.find(OTHER)).rejects.toThrow('away'); // it may have been created since
    state.ageMs++;
    await expect(known.find(ID)).rejects.toThrow('away');
  });
});

test('look-ups are bounded; one for each key, however many wait for it', async () => {
  const { known, hold } = setUp();
  const answer = hold();
  const waiting = Array.from({ length: 1_000 }, (_, i) => known.find(String(i)));
  await expect(known.find('one more')).rejects.toMatchObject({ code: 'overloaded' });
  answer();
  await Promise.all(waiting);
  expect(await known.find('one more')).toBeUndefined();
});

test('ids that nobody has push no key out', async () => {
  const { known } = setUp();
  await known.find(ID);
  for (let i = 0; i < 20_000; i++) await known.find(String(i));
  expect(known.find(ID)).toBe(RECORD);
});
