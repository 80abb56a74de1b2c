import { findSearchesDir } from '../definitions/folders.ts';
import { getNamed, type Registry } from '../definitions/registry.ts';
import { checkSavedSearch, createSavedSearch } from '../definitions/saved-search.ts';
import type { Fault } from '../errors.ts';
import type { Caller } from '../keys/keyring.ts';
import { verifySavedSearches } from '../search/verify.ts';
import {
  checkText,
  type FileKind,
  readDefinitionFile,
  type SaveFileParts,
  type SaveFileRequest,
  saveDefinitionFile,
} from './definition-file.ts';
import type { SaveParts } from './save.ts';
import { findOff } from './workbench.ts';

const SEARCH_FILE = 'search.yaml';

export interface SaveSearchParts extends SaveFileParts, Pick<SaveParts, 'config'> {
  readonly registry: Pick<Registry, 'searches' | 'sources'>;
}

function kindOf(parts: SaveSearchParts): FileKind {
  return {
    ...{ noun: 'search', file: SEARCH_FILE, known: () => parts.registry.searches },
    dirOf: findSearchesDir,
    check: (definition) => checkSearchDraft(parts, definition),
    refusal: () => findOff('searches', parts.config),
  };
}

/** Checks the text of a saved search as files are checked. It may lack `id`. */
export function checkSearchDraft({ registry }: SaveSearchParts, definition: string): readonly Fault[] {
  return checkText(SEARCH_FILE, definition, (file) => {
    const faults = checkSavedSearch(file);
    return faults.length > 0 ? faults : verifySavedSearches([createSavedSearch(file)], registry.sources);
  });
}

/** Reads the present file of a saved search, which may be newer than the served one. @throws TailraceError `not_found` */
export function readSearchFile(parts: SaveSearchParts, idOrName: string) {
  return readDefinitionFile(kindOf(parts), getNamed('search', parts.registry.searches, idOrName));
}

/** Writes the file of a saved search and has it served. @throws as `saveDefinitionFile` */
export function saveSearch(
  parts: SaveSearchParts,
  request: SaveFileRequest,
  caller: Pick<Caller, 'keyId' | 'person' | 'address'>,
) {
  return saveDefinitionFile(parts, { ...request, kind: kindOf(parts) }, caller);
}
