import { findServerAddress } from '../../src/config/clickhouse.ts';
import { openServerEngine } from '../../src/engine/server/server.ts';
import { openTestEngine } from '../support/server-engine.ts';
import { temporaryFolder, testConfig } from '../support/service.ts';
import { describeEngine } from './contract.ts';

// No longer than the suite waits for anything.
const QUEUE = { queuePerLaneMax: 10, queueTimeoutMs: 15_000 };

describeEngine('the engine on a server', async (size) => {
  const folder = await temporaryFolder();
  const server = await openTestEngine(folder.path);
  const address = findServerAddress(testConfig(folder.path, server.env));
  if (address === undefined) throw new Error('this suite runs with TEST_ENGINE, as vitest.config.ts sets it');
  return {
    engine: await openServerEngine({ ...size, ...QUEUE, address, cluster: '' }),
    async remove() {
      await server.remove();
      await folder.remove();
    },
  };
});
