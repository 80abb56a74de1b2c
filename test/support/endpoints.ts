import { cp } from 'node:fs/promises';
import { join } from 'node:path';
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
