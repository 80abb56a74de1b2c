import type { Source } from '../definitions/source.ts';
import { TailraceError } from '../errors.ts';
import { isDeclared } from './field.ts';
import { listNamed, printField, quoteText, type SearchField, type SearchTree } from './tree.ts';

interface Searched {
  /** Fields that the events are grouped by, or of which something was computed. */
  readonly fields: readonly SearchField[];
  /** Of the part of the search. */
  readonly doubt: string | undefined;
  readonly sources: readonly Source[];
}

const FIELDS_MAX = 5;
const CHARS_MAX = 100;
const cut = (text: string) => text.slice(0, CHARS_MAX);

/** Describes in one line what may be wrong with a search that finds nothing; `undefined` if nothing stands out. */
export function describeDoubts(
  tree: SearchTree | undefined,
  { fields: own, doubt, sources }: Searched,
): string | undefined {
  const fields = [...own, ...(tree === undefined ? [] : listNamed(tree))];
  const doubts = [
    doubt,
    describeUnknown(fields.filter((one) => !sources.some((source) => isDeclared(source, one)))),
    findInTree(tree, (term) => describeColon(term, sources)),
  ].filter((one) => one !== undefined);
  return doubts.length === 0 ? undefined : doubts.join('; ');
}

/** Adds advice to the failure of a search if it is due to its size. */
export function suggestNarrowing(error: unknown): unknown {
  const isOfSize = error instanceof TailraceError && ['query_timeout', 'query_failed'].includes(error.code);
  if (!isOfSize) return error;
  const message = `${error.message}; search a shorter range ("from" and "until"), one "project" or fewer sources`;
  return new TailraceError(error.code, message, { cause: error.cause ?? error });
}

/** Describes undeclared fields: they may be misspelt, or these events may not have them. */
function describeUnknown(fields: readonly SearchField[]): string | undefined {
  const all = [...new Set(fields.map(printField))];
  if (all.length === 0) return undefined;
  const names = all.slice(0, FIELDS_MAX).map(cut);
  const more = all.length > FIELDS_MAX ? ` and ${all.length - FIELDS_MAX} more` : '';
  return `no source declares ${names.join(', ')}${more}: read from the metadata, which may not have it`;
}

/** Describes a text that is read as an undeclared field and its value: a URL, `host:port` or a time. */
function describeColon(term: SearchTree, sources: readonly Source[]): string | undefined {
  if (term.kind !== 'compare' || term.operator !== '=' || term.isQuoted) return undefined;
  const { field, value } = term;
  if (sources.some((source) => isDeclared(source, field))) return undefined;
  const text = `${field.join('.')}:${value.join('*')}`;
  return `to search for the text, put it in quotes: ${quoteText(cut(text))}`;
}

/** Returns the first description of a term. */
function findInTree(
  tree: SearchTree | undefined,
  describe: (term: SearchTree) => string | undefined,
): string | undefined {
  if (tree === undefined) return undefined;
  if ('item' in tree) return findInTree(tree.item, describe);
  if (!('items' in tree)) return describe(tree);
  for (const item of tree.items) {
    const found = findInTree(item, describe);
    if (found !== undefined) return found;
  }
  return undefined;
}
