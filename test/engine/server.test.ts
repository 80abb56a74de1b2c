import { join } from 'node:path';
import { openServerEngine } from '../../src/engine/server.ts';
import { startClickHouseFront } from '../support/clickhouse-front.ts';
import { addressOf } from '../support/server-engine.ts';
import { temporaryFolder } from '../support/service.ts';
import { describeEngine, type EngineSize } from './contract.ts';

// No longer than the suite waits for anything.
const QUEUE = { queuePerLaneMax: 10, queueTimeoutMs: 15_000 };

describeEngine('the engine on a server', async (size: EngineSize) => {
  const folder = await temporaryFolder();
  const front = await startClickHouseFront(join(folder.path, 'clickhouse'));
  const engine = await openServerEngine({ ...size, ...QUEUE, address: addressOf(front.url) });
  return {
    engine,
    async remove() {
      await front.close();
      await folder.remove();
    },
  };
});
