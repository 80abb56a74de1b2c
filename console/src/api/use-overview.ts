import type { Overview } from '../../../src/management/view.ts';
import { useClient } from './client.ts';
import { type Loaded, useLoad } from './use-load.ts';

const EVERY_MS = 5_000;

/** The live numbers of the service; without the scope `manage` nothing is read. */
export function useOverview(): Loaded<Overview> {
  const mayWatch = useClient().self.scopes.includes('manage');
  return useLoad<Overview>(mayWatch ? '/api/overview' : undefined, NEEDS, EVERY_MS);
}

const NEEDS = ['notices', 'endpoints', 'search', 'sources', 'engine', 'store'] as const;
