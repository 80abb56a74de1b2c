import { afterAll, afterEach, expect, test, vi } from 'vitest';
import type { Engine } from '../../src/engine/engine.ts';
import { createCommitter } from '../../src/ingest/committer.ts';
import { parseEvent } from '../../src/ingest/event.ts';
import { encodeRows } from '../../src/ingest/rows.ts';
import { createBegin } from '../../src/maintenance/deletion/begin.ts';
import { idsOf } from '../support/ingest.ts';
import { openTestStore } from '../support/service.ts';

const { core, close } = await openTestStore();
afterAll(close);
afterEach(() => void vi.useRealTimers());
const EDGE = core.registry.getSource('cloudflare.logs.prod');
const NOW = Date.now();
const HOLD_MS = 10_000;

function rowsOf(project: string, id: string) {
  const wire = { id, project, timestamp: NOW, event_message: '' };
  const rules = { now: NOW * 1000, eventBytesMax: 1024 * 1024, project: '' };
  return encodeRows([parseEvent({ text: JSON.stringify(wire) }, EDGE, rules)]);
}

/** A committer and a deletion over the real engine, whose answers to the service itself wait until the gate opens. */
function hang() {
  const gate = Promise.withResolvers<void>();
  const engine: Engine = {
    ...core.engine,
    async inspect(sql) {
      await gate.promise;
      return await core.engine.inspect(sql);
    },
  };
  const committer = createCommitter(engine, {
    waitMs: 0,
    groupBytesMax: 1, // sent at once, without a timer
    queueBytesMax: 1_000_000,
    onCommit() {},
  });
  const begin = createBegin({
    ...{ engine, registry: core.registry, holdInserts: committer.hold, now: () => NOW },
    ...{ control: { record: async () => {} }, pause: async () => {}, onBegin() {} },
  });
  const deletion = (project: string) => ({ project, sources: [EDGE], leftOut: [], before: undefined });
  return { gate, committer, begin: (project: string) => begin(deletion(project), { actor: 'cli' }) };
}

/** Lets what has been resolved go on. */
const settle = async () => {
  for (let i = 0; i < 20; i++) await undefined;
};

test('an engine that hangs while a deletion begins holds ingest for ten seconds, not for as long as it hangs', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  const { gate, committer, begin } = hang();
  const begun = begin('hung');
  await settle();
  let isStored = false;
  const commit = committer.commit(EDGE, rowsOf('other', '1')).then(() => {
    isStored = true;
  });
  vi.advanceTimersByTime(HOLD_MS - 1);
  await settle();
  expect([isStored, committer.gauges().queuedRequests]).toEqual([false, 1]);
  vi.advanceTimersByTime(1);
  await commit;
  expect(await idsOf(core, 'other')).toEqual(['1']);
  gate.resolve();
  expect(await begun).toMatchObject({ counted: [{ rows: 0 }], failure: undefined });
  await committer.close();
});
