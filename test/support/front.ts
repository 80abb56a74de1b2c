import { join } from 'node:path';
import { afterAll } from 'vitest';
import { startClickHouseFront } from '../../trial/clickhouse-front.ts';
import { ownFolder } from './service.ts';

/** A server that speaks ClickHouse's protocol, for the top of a test file: closed after its last test. */
export async function ownFront(
  cluster?: string,
  options?: Parameters<typeof startClickHouseFront>[2],
): ReturnType<typeof startClickHouseFront> {
  const { path } = await ownFolder();
  const front = await startClickHouseFront(join(path, 'clickhouse'), cluster, options);
  afterAll(front.close);
  return front;
}
