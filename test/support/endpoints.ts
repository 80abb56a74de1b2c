import { cp } from 'node:fs/promises';
import { join } from 'node:path';
import { addEndpoint } from '../../trial/endpoint.ts';
import { ownFolder } from './service.ts';

/** A query that no machine finishes within a test. */
export const ENDLESS_SQL =
  'SELECT count() AS n FROM numbers(1000000000000000) WHERE cityHash64(number) = cityHash64(@project)';

/** Copies the shipped endpoints for a test file that adds some of its own. @returns their folder */
export async function copyEndpoints(): Promise<string> {
  const path = join((await ownFolder()).path, 'endpoints');
  await cp('endpoints', path, { recursive: true });
  return path;
}

/** The shipped endpoints, and two that never end: `endless.plain` is not cached, `endless.cached` is. */
export async function copyEndpointsWithEndless() {
  const folder = await copyEndpoints();
  for (const endpoint of [
    { name: 'endless.plain', id: 'a0000000-0000-4000-8000-000000000001', caching: 'disabled' },
    { name: 'endless.cached', id: 'a0000000-0000-4000-8000-000000000002', caching: 900 },
  ] as const)
    await addEndpoint(folder, { ...endpoint, sql: ENDLESS_SQL });
  return folder;
}
