import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { fillWithSample } from '../../../src/cli/commands/sample.ts';
import { copyFewDefinitions } from '../../support/definitions.ts';
import { openTestStore, ownFolder, storeEvents } from '../../support/service.ts';

const folder = await ownFolder();
const definitions = await copyFewDefinitions(folder.path);
const never = new AbortController().signal;

describe('fillWithSample', () => {
  let store: Awaited<ReturnType<typeof openTestStore>>;
  const lines: string[] = [];
  beforeEach(async () => {
    store = await openTestStore(definitions);
    lines.length = 0;
    vi.spyOn(process.stderr, 'write').mockImplementation((line) => lines.push(String(line)) > 0);
  });
  afterEach(async () => {
    vi.restoreAllMocks();
    await store.close();
  });
  const count = async () => (await store.core.engine.inspect('SELECT count() AS events FROM edge_logs'))[0];

  test('leaves a store alone that has one event', async () => {
    await storeEvents(store.core, 'cloudflare.logs.prod', [{ project: 'mine' }], Date.now());
    await fillWithSample(store.core, never, 1_000);
    expect(await count()).toEqual({ events: 1 });
  });

  test('stops at the signal, says so, and leaves the store empty for the next start to fill', async () => {
    const { core } = store;
    const stop = new AbortController();
    // The signal comes when a part is stored.
    vi.spyOn(core.engine, 'insert').mockImplementationOnce(async (batch) => {
      stop.abort('SIGINT');
      await core.engine.insert(batch);
    });
    await fillWithSample(core, stop.signal, 1_000);
    expect(lines.at(-1)).toMatch(/^sample: stopped by SIGINT; no event is kept/);
    expect(await count()).toEqual({ events: 0 });
    await fillWithSample(core, never, 1_000);
    expect(lines.slice(-2)).toEqual([
      'sample: storing 1,000 generated events of the last 7 days\n',
      expect.stringMatching(/^sample: 1,000 events, [\d,]+\/s, are stored\n$/),
    ]);
  });
});
