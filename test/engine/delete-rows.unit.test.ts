import { expect, test } from 'vitest';
import type { Source } from '../../src/definitions/source.ts';
import { finishDeletion } from '../../src/engine/delete-rows.ts';
import type { Engine } from '../../src/engine/engine.ts';

const MB = 1e6;
const SOURCE = { name: 'edge', table: 'edge_logs', external: undefined } as Source; // the rest is not read

test.each([
  { free: 12 * MB, replaced: 0, merges: 0, isFull: true },
  { free: 12 * MB, replaced: 100 * MB, merges: 0, isFull: false }, // which the engine removes
  { free: 12 * MB, replaced: 0, merges: 1, isFull: false },
])(
  'files that have to be rewritten, with $free bytes free, $replaced in replaced files, and $merges merges',
  async (room) => {
    let polls = 0;
    const engine = {
      seesEveryWrite: true,
      cluster: '',
      command: async () => {},
      async inspect({ text }: { readonly text: string }) {
        if (text.includes('unreserved_space')) return [{ parts: 2, bytes: 10 * MB, ...room }];
        const left = text.includes('AS left') && polls++ < 30 ? 1 : 0;
        return text.includes('AS left') ? [{ left, parts: 2 * left, fault: '' }] : [];
      },
    } as unknown as Engine; // deletions of rows use nothing else
    const done = finishDeletion(engine, SOURCE, { pause: async () => {}, onParts() {} });
    if (room.isFull)
      await expect(done).rejects.toThrow(/^the disk is full: 2 files of .* needs 13 MB, and 12 MB are free/);
    else await done;
  },
);
