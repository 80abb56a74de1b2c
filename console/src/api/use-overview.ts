import type { Overview } from '../../../src/management/view.ts';
import { useClient } from './client.ts';
import { type Loaded, queries, useRead } from './queries.ts';

const EVERY_MS = 5_000;

/** The live numbers of the service; without the scope `manage` nothing is read. */
export function useOverview(): Loaded<Overview> {
  const isWanted = useClient().self.scopes.includes('manage');
  return useRead(queries.overview, { isWanted, everyMs: EVERY_MS });
}
