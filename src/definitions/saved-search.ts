import { existsSync } from 'node:fs';
import { type Static, Type } from 'typebox';
import type { Fault } from '../errors.ts';
import { CHART_TITLE } from './chart.ts';
import { ENDPOINT_NAME } from './endpoint.ts';
import { createShapeCheck } from './shape.ts';
import { UUID_TEXT } from './source-file.ts';
import { checkUnique, readYamlFolder, type YamlFile } from './yaml-file.ts';

/** A search that a team keeps. */
export interface SavedSearch {
  readonly id: string;
  readonly name: string;
  readonly title: string;
  readonly description: string;
  /** Texts as in the console's address. */
  readonly search: Readonly<Record<string, string>>;
  readonly file: string;
  readonly fault: YamlFile['fault'];
}

const MAP = { additionalProperties: false, expected: 'a map of fields' };
const TEXT = Type.Union([Type.String({ maxLength: 8_192 }), Type.Number()], {
  expected: 'a string of at most 8192 characters',
});
const NAMES = 'q source project range from until by measure top columns mark'.split(' ');
/** What the console's address has one of. */
const CHOICES = {
  order: ['newest', 'oldest'],
  view: ['lines', 'patterns', 'compare', 'timeline'],
  compare: ['errors', 'search', 'range'],
};

export const SAVED_SEARCH_FILE = Type.Object(
  {
    id: UUID_TEXT,
    name: ENDPOINT_NAME,
    title: CHART_TITLE,
    description: Type.Optional(
      Type.String({ maxLength: 1_000, expected: 'a string of at most 1000 characters' }),
    ),
    search: Type.Object(
      Object.fromEntries([
        ...NAMES.map((name) => [name, Type.Optional(TEXT)]),
        ...Object.entries(CHOICES).map(([name, choices]) => [
          name,
          Type.Optional(Type.Enum(choices, { expected: `one of ${choices.join(', ')}` })),
        ]),
      ]),
      { ...MAP, expected: 'a map of fields such as q, source and range, as in the address of Explore' },
    ),
  },
  MAP,
);

export const checkSavedSearch = createShapeCheck(SAVED_SEARCH_FILE);

/** Creates the search of a file in which `checkSavedSearch` found no fault. */
export function createSavedSearch({ value, file, fault }: YamlFile): SavedSearch {
  const { id, name, title, description = '', search } = value as Static<typeof SAVED_SEARCH_FILE>;
  const texts = Object.entries(search).map(([field, text]) => [field, String(text)]);
  return {
    ...{ id: id.toLowerCase(), name, title, description, file, fault },
    search: Object.fromEntries(texts),
  };
}

/** Returns the names and UUIDs of the sources that it names, as `GET /api/search` reads them; empty: all. */
export function listSources({ search: { source = '' } }: Pick<SavedSearch, 'search'>): string[] {
  return source
    .split(',')
    .map((name) => name.trim())
    .filter((name) => name !== '');
}

/** Reads the saved searches of a folder, if it exists. Adds every fault of shape. */
export async function readSavedSearches(dir: string, faults: Fault[]): Promise<SavedSearch[]> {
  if (!existsSync(dir)) return [];
  const files = await readYamlFolder(dir, faults);
  faults.push(...checkUnique(files, ['id', 'name']));
  return files.flatMap((file) => {
    const own = checkSavedSearch(file);
    faults.push(...own);
    return own.length === 0 ? [createSavedSearch(file)] : [];
  });
}
