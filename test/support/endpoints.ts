import { cp } from 'node:fs/promises';
import { join } from 'node:path';
import { addEndpoint } from '../../trial/endpoint.ts';
import { temporaryFolder } from './service.ts';

/** A query that no machine finishes within a test. */
export const ENDLESS_SQL =
  'SELECT count() AS n FROM numbers(1000000000000000) WHERE cityHash64(number) = cityHash64(@project)';

/** A folder with the shipped endpoints, for tests that add some of their own. */
export async function copyEndpoints() {
  const folder = await temporaryFolder();
  const path = join(folder.path, 'endpoints');
  await cp('endpoints', path, { recursive: true });
  return { path, remove: folder.remove };
}

/** The shipped endpoints, and two that never end: `endless.plain` is not cached, `endless.cached` is. */
export async function copyEndpointsWithEndless() {
  const folder = await copyEndpoints();
  for (const endpoint of [
    { name: 'endless.plain', id: 'a0000000-0000-4000-8000-000000000001', caching: 'disabled' },
    { name: 'endless.cached', id: 'a0000000-0000-4000-8000-000000000002', caching: 900 },
  ] as const)
    await addEndpoint(folder.path, { ...endpoint, sql: ENDLESS_SQL });
  return folder;
}
