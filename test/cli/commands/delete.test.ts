import { afterAll, expect, test } from 'vitest';
import { announceService } from '../../../src/cli/local-service.ts';
import { expectExit } from '../../support/cli.ts';
import { edgeEvents } from '../../support/events.ts';
import { EDGE, get, idsOf } from '../../support/http.ts';
import { runProgram } from '../../support/program.ts';
import { ownService, PRIVATE_KEY, storeEvents } from '../../support/service.ts';

const service = await ownService({ owner: 'tailrace serve (a test)' });
const { core, clock, config, url } = service;
const end = announceService(config.dataDir, { url, key: PRIVATE_KEY });
afterAll(end);

const run = (...args: string[]) =>
  runProgram(['delete', '--project', 'gone', ...args], { TAILRACE_DATA_DIR: config.dataDir });

test('tailrace delete asks, then deletes only what was named', async () => {
  await storeEvents(core, EDGE, [...edgeEvents(30, 'gone'), ...edgeEvents(20, 'kept')], clock.now);
  expectExit(await run('--dry-run'), 0, '30 events; nothing was deleted');
  expectExit(await run(), 1, 'add --yes');
  expectExit(await run('--source', EDGE, '--yes'), 0, '30 events deleted');
  expect([await idsOf(core, 'gone'), (await idsOf(core, 'kept')).length]).toEqual([[], 20]);
  const again = await run('--yes');
  expect([again.code, again.stdout]).toEqual([0, 'No events match; nothing was deleted.\n']);
  const { body } = await get(url, '/api/keys/log');
  const detail = `30 events of project "gone" in ${EDGE}`;
  expect(body.result).toContainEqual(expect.objectContaining({ action: 'deleted', detail }));
});
