import { Type } from 'typebox';
import { closed, oneOf, optional } from '../lib/schema.ts';
import { CHART_TITLE } from './chart.ts';
import { ENDPOINT_NAME } from './endpoint.ts';
import { createFileKind, type Defined } from './file-kind.ts';
import { UUID_TEXT } from './source-file.ts';

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

export const SAVED_SEARCH_FILE = closed({
  id: UUID_TEXT,
  name: ENDPOINT_NAME,
  title: CHART_TITLE,
  description: Type.Optional(Type.String({ maxLength: 1_000 })),
  search: closed(
    optional({
      ...Object.fromEntries(NAMES.map((name) => [name, TEXT])),
      ...Object.fromEntries(Object.entries(CHOICES).map(([name, choices]) => [name, oneOf(choices)])),
    }),
    { expected: 'a map of fields such as q, source and range, as in the address of Explore' },
  ),
});

/** The files of saved searches, checked for faults of shape. */
export const SAVED_SEARCHES = createFileKind('search', SAVED_SEARCH_FILE, {
  create({ name, title, description = '', search }) {
    const texts = Object.entries(search).map(([field, text]) => [field, String(text)]);
    /** `search`: texts as in the console's address. */
    return {
      name,
      title,
      description,
      search: Object.fromEntries(texts) as Readonly<Record<string, string>>,
    };
  },
});

/** A search that a team keeps. */
export type SavedSearch = Defined<typeof SAVED_SEARCHES>;

/** Returns the names and UUIDs of the sources that it names, as `GET /api/search` reads them; empty: all. */
export function listSources({ search: { source = '' } }: Pick<SavedSearch, 'search'>): string[] {
  return source
    .split(',')
    .map((name) => name.trim())
    .filter((name) => name !== '');
}
