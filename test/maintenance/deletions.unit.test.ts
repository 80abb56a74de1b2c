import { expect, test, vi } from 'vitest';
import type { Source } from '../../src/definitions/source.ts';
import type { Engine } from '../../src/engine/engine.ts';
import { createDeletions } from '../../src/maintenance/deletions.ts';

const SOURCE = { name: 'edge', table: 'edge_logs', external: undefined } as Source; // the rest is not read
const DELETION = { project: 'p', sources: [SOURCE], isOfAll: false, leftOut: [], before: undefined };
const LEFT = { table: 'edge_logs', parts: 2, fault: '' };

/** Deletions on an engine whose files never fit on its disk until `left` is empty. */
function open() {
  const world = { left: [LEFT], merges: 0 };
  const followDeletions = vi.fn(async () => true);
  const engine = {
    seesEveryWrite: true,
    cluster: '',
    command: async () => {},
    async inspect({ text }: { readonly text: string }) {
      if (text.includes('system.merges')) return Array.from({ length: world.merges }, () => ({}));
      return text.includes('system.mutations') ? world.left : [{ source: 0, rows: 7 }];
    },
  } as unknown as Engine; // deletions use nothing else
  const deletions = createDeletions({
    core: { engine, followDeletions },
    control: { record: async () => {} },
    holdInserts: () => ({ idle: Promise.resolve(), release() {} }),
    makeRoom: async () => {},
    ...{ now: () => 0, newId: () => 'a', wait: () => new Promise((resolve) => setImmediate(resolve)) },
  });
  return { world, deletions, followDeletions };
}

test('a deletion fails with what is left if nothing is rewritten, and answers are dropped when it goes on', async () => {
  const { world, deletions, followDeletions } = open();
  const job = await deletions.start(DELETION, { actor: 'cli' });
  await expect(job.done).rejects.toThrow(/probably because the disk is full\. 2 files of edge_logs are left/);
  expect([job.state, deletions.isRunning()]).toEqual(['failed', false]);
  followDeletions.mockClear();
  world.left = [];
  await vi.waitFor(() => expect(followDeletions).toHaveBeenCalled());
});

test('a deletion waits while files are merged, and for deletions that an earlier process has begun', async () => {
  const { world, deletions, followDeletions } = open();
  world.merges = 1;
  deletions.watch();
  const job = await deletions.start(DELETION, { actor: 'cli' });
  await vi.waitFor(() => expect(followDeletions.mock.calls.length).toBeGreaterThan(100));
  expect(job).toMatchObject({ state: 'running', progress: { source: 'edge', partsLeft: 2 } });
  world.left = [];
  await job.done;
  expect(job).toMatchObject({ state: 'done', progress: undefined });
});
