export interface SavedSearch {
  /** Unique. */
  readonly name: string;
  /** Explore's query string, without `?`. */
  readonly address: string;
}

const NAME = 'tailrace.searches';
const BY_NAME = new Intl.Collator('en', { numeric: true });

export function readSearches(): readonly SavedSearch[] {
  try {
    const stored: unknown = JSON.parse(localStorage.getItem(NAME) ?? '[]');
    return Array.isArray(stored) ? stored.filter(isSearch) : [];
  } catch {
    return [];
  }
}

function isSearch(value: unknown): value is SavedSearch {
  const { name, address } = (value ?? {}) as Partial<SavedSearch>;
  return typeof name === 'string' && typeof address === 'string';
}

/** Stores a search; it replaces one of the same name. Another tab may have changed the others, so they are read again. */
export function saveSearch(search: SavedSearch): void {
  const searches = [...others(search.name), search];
  store(searches.toSorted((a, b) => BY_NAME.compare(a.name, b.name)));
}

// The names that a file may have (docs/search.md); what follows new lines, and a marked line, are of one moment.
const OWN = ['live', 'at'];

/** The text of a team's file for an address of Explore. JSON is YAML. */
export function formatTeamSearch(title: string, address: string): string {
  const entries = [...new URLSearchParams(address)].filter(([name]) => !OWN.includes(name));
  return `title: ${JSON.stringify(title)}\nsearch: ${JSON.stringify(Object.fromEntries(entries))}\n`;
}

/** The name of a file: `Checkout fails!` is `checkout-fails`; of other letters, a number. */
export function slugOf(title: string): string {
  const words = title
    .normalize('NFKD')
    .toLowerCase()
    .replaceAll(/\p{M}/gu, '')
    .match(/[a-z0-9]+/g);
  return words?.join('-') ?? `search-${Date.now().toString(36)}`;
}

export function deleteSearch(name: string): void {
  store(others(name));
}

function others(name: string): readonly SavedSearch[] {
  return readSearches().filter((search) => search.name !== name);
}

function store(searches: readonly SavedSearch[]): void {
  localStorage.setItem(NAME, JSON.stringify(searches));
}
