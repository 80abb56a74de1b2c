import type { Registry } from '../definitions/registry.ts';
import { listSources, type SavedSearch } from '../definitions/saved-search.ts';
import { mayRead } from '../keys/grant.ts';
import type { Caller } from '../keys/keyring.ts';
import type { SavedSearchView } from './view.ts';

/** Lists the saved searches that the caller may run, by title. */
export function listSavedSearches(
  registry: Pick<Registry, 'searches' | 'findSource'>,
  caller: Pick<Caller, 'endpoints' | 'sources' | 'pins' | 'scopes'>,
): SavedSearchView[] {
  const mayRun = (saved: SavedSearch) => {
    const { project } = saved.search;
    const pinned = caller.pins['project'];
    const sources = listSources(saved).map(registry.findSource);
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
