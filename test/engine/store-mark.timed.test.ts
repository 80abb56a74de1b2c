import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { STORE_VERSION } from '../../src/engine/store-version.ts';
import { openCore } from '../../src/service/open-core.ts';
import { trusted } from '../../src/sql/sql.ts';
import { startClickHouseFront } from '../../trial/clickhouse-front.ts';
import { temporaryFolder, testConfig } from '../support/service.ts';

const folder = await temporaryFolder();
const front = await startClickHouseFront(join(folder.path, 'clickhouse'));
afterAll(async () => {
  await front.close();
  await folder.remove();
});
const config = testConfig(folder.path, { CLICKHOUSE_URL: front.url });
const open = () => openCore(config, 'a test');

test('tables on a server carry the version in their comments, and what an operator wrote there stays', async () => {
  const first = await open();
  const read = async () => {
    const rows = await first.engine.inspect(
      "SELECT comment FROM system.tables WHERE database = currentDatabase() AND name = 'edge_logs'",
    );
    return rows[0]?.['comment'];
  };
  const comment = async (text: string) =>
    await first.engine.command(trusted(`ALTER TABLE edge_logs MODIFY COMMENT '${text}'`));
  expect(await read()).toBe(`[tailrace store ${STORE_VERSION}]`);

  await comment('ours, keep'); // as a table of before stores carried a version
  await (await open()).close();
  expect(await read()).toBe(`ours, keep [tailrace store ${STORE_VERSION}]`);

  await first.eventsDeleted([first.registry.getSource('cloudflare.logs.prod')], 1_000);
  expect(await read()).toBe(`ours, keep [tailrace store ${STORE_VERSION}, deletions 1000]`);
  await first.eventsDeleted([first.registry.getSource('cloudflare.logs.prod')], 900); // a clock that is behind
  expect(await read()).toMatch(/deletions 1001\]$/);

  await comment(`[tailrace store ${STORE_VERSION + 1}]`);
  await expect(open()).rejects.toThrow(/CLICKHOUSE_URL: the event store there is of version .* newer than/);
  await first.close();
});
