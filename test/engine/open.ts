import { findServerAddress } from '../../src/config/clickhouse.ts';
import { openEmbeddedEngine } from '../../src/engine/embedded/embedded.ts';
import { openServerEngine } from '../../src/engine/server/server.ts';
import { openTestEngine } from '../support/server-engine.ts';
import { temporaryFolder, testConfig } from '../support/service.ts';
import type { OpenEngine } from './contract.ts';

// No query of the contract ends by these.
const QUEUE = { queuePerLaneMax: 10, queueTimeoutMs: 120_000 };

const limits = { timeoutMs: 120_000, memoryBytesMax: 256 * 1024 ** 2, resultBytesMax: 1024 ** 2 };
/** An engine on a server of which no test hits a limit: what ends before has not ended by it. */
export const SERVER_SIZE = { readers: 2, queueMax: 10, ...QUEUE, limits, cluster: '' };

export const openEmbedded: OpenEngine = async (size) => {
  const folder = await temporaryFolder();
  const options = {
    ...size,
    ...QUEUE,
    dataDir: folder.path,
    backupDir: folder.path,
    memoryBytesMax: 2 * 1024 ** 3,
  };
  return { engine: await openEmbeddedEngine(options), remove: folder.remove };
};

export const openOnServer: OpenEngine = async (size) => {
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
};
