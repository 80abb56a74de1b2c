import { useCallback, useMemo } from 'react';
import { useLocation, useSearch } from 'wouter';
import { type ExploreAddress, explorePath, parseAddress } from './address.ts';

/** The members that make another search: it adds a history entry, so the back button returns to the previous one. */
const SEARCHED: readonly (keyof ExploreAddress)[] = [
  'q',
  'source',
  'project',
  'range',
  'from',
  'until',
  'at',
];

/** The address of the page, and a function that changes it. A line to mark belongs to one search: another one has none. */
export function useAddress(): [ExploreAddress, (change: Partial<ExploreAddress>) => void] {
  const search = useSearch();
  const [, navigate] = useLocation();
  const address = useMemo(() => parseAddress(search), [search]);
  const change = useCallback(
    (part: Partial<ExploreAddress>) => {
      const isOther = SEARCHED.some((name) => name in part);
      const next = { ...address, ...(isOther && { at: '' }), ...part };
      navigate(explorePath(next), { replace: !isOther });
    },
    [address, navigate],
  );
  return [address, change];
}
