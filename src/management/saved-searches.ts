import type { Registry } from '../definitions/registry.ts';
import type { SavedSearch } from '../definitions/saved-search.ts';
import { mayRead } from '../keys/grant.ts';
import type { Caller } from '../keys/keyring.ts';
import type { SavedSearchView } from './view.ts';

/** Lists the saved searches that the caller may run, by title. */
export function listSavedSearches(
  registry: Pick<Registry, 'searches' | 'findSource'>,
  caller: Pick<Caller, 'endpoints' | 'sources' | 'pins' | 'scopes'>,
): SavedSearchView[] {
  const mayRun = ({ search: { source = '', project } }: SavedSearch) => {
    const pinned = caller.pins['project'];
    const sources = source.split(',').filter(Boolean).map(registry.findSource);
    return (
      caller.endpoints === undefined &&
      sources.every((one) => one !== undefined && mayRead(caller, one)) &&
      (project === undefined || pinned === undefined || project === pinned)
    );
  };
  return registry.searches
    .filter(mayRun)
    .map(({ id, name, title, description, search }) => ({ id, name, title, description, search }))
    .toSorted((a, b) => a.title.localeCompare(b.title));
}
