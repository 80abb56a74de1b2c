import { expect, test } from 'vitest';
import { trusted } from '../../src/sql/sql.ts';
import { ownService } from '../support/service.ts';

const MIB = 1024 * 1024;
const now = Date.parse('2026-11-20T07:00:00.000Z');

const service = await ownService({ bounds: { queryMemoryBytesMax: 32 * MIB }, now });

test('the memory of a query does not grow with the times in a bucket', async () => {
  await service.core.engine.command(
    trusted(`INSERT INTO function_edge_logs (id, timestamp, project, execution_time_ms)
      SELECT toString(number), fromUnixTimestamp64Milli(${now} - number % 60000, 'UTC'), 'many', number
      FROM numbers(3000000)`),
  );
  const asked = { project: 'many', interval: '7day' };
  const { status, body } = await service.call('functions.invocation-stats', asked);
  expect(status).toBe(200);
  const [row] = body.result;
  expect(row?.['count']).toBe(3_000_000);
  // Of 3,000,000 the 2,970,000th, within 0.1 %.
  expect(Math.abs(Number(row?.['p99_execution_time']) - 2_970_000)).toBeLessThan(2_970);
});
