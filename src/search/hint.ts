import type { Source } from '../definitions/source.ts';
import { TailraceError } from '../errors.ts';
import { printField, type SearchTree } from './tree.ts';

interface Searched {
  /** Fields that no source has as a column. */
  readonly extracted: ReadonlySet<string>;
  readonly sources: readonly Source[];
}

const FIELDS_MAX = 5;
const CHARS_MAX = 100;
const cut = (text: string) => text.slice(0, CHARS_MAX);

/** What may be wrong with a search that finds nothing, in one line; `undefined` if nothing stands out. */
export function describeDoubts(
  tree: SearchTree | undefined,
  { extracted, sources }: Searched,
): string | undefined {
  const doubts = [
    describeUnknown(extracted),
    findInTree(tree, describeWord),
    findInTree(tree, describeValue),
    findInTree(tree, (term) => describeSource(term, sources)),
  ].filter((doubt) => doubt !== undefined);
  return doubts.length === 0 ? undefined : doubts.join('; ');
}

/** The failure of a search with what to do about it, if it is one of its size. */
export function adviseSmaller(error: unknown): unknown {
  const isOfSize = error instanceof TailraceError && ['query_timeout', 'query_failed'].includes(error.code);
  if (!isOfSize) return error;
  const message = `${error.message}; search a shorter range ("from" and "until"), one "project" or fewer sources`;
  return new TailraceError(error.code, message, { cause: error.cause ?? error });
}

/** A field may be misspelt, which cannot be told from one that these events happen not to have. */
function describeUnknown(extracted: ReadonlySet<string>): string | undefined {
  if (extracted.size === 0) return undefined;
  const names = [...extracted].slice(0, FIELDS_MAX).map(cut);
  const more = extracted.size > FIELDS_MAX ? ` and ${extracted.size - FIELDS_MAX} more` : '';
  return `no source declares ${names.join(', ')}${more}: read from the metadata, which may not have it`;
}

const SIGNS: Readonly<Record<string, string>> = { '&&': 'and', '||': 'or' };

/** A word that looks like a condition of another language; as a text it may also stand in messages. */
function describeWord(term: SearchTree): string | undefined {
  if (term.kind !== 'text') return undefined;
  const word = term.value.join('*');
  const sign = SIGNS[word];
  if (sign !== undefined) return `${word} was searched for as text; write ${sign}`;
  if (/^![\w"]/.test(word)) return `${cut(word)} was searched for as text; write -${cut(word.slice(1))}`;
  const [, field, operator = '', value = ''] =
    /^([A-Za-z_][\w.]*)(==?|!=|[<>]=?)([^=<>].*)$/.exec(word) ?? [];
  if (field === undefined) return undefined;
  const before = operator === '!=' ? '-' : '';
  const written = `${before}${field}:${/^[<>]/.test(operator) ? operator : ''}${value}`;
  return `${cut(word)} was searched for as text; for a field write ${cut(written)}`;
}

/** A value that begins with an operator that there is not, such as `status:!=500`. */
function describeValue(term: SearchTree): string | undefined {
  if (term.kind !== 'compare' || term.operator !== '=') return undefined;
  const value = term.value.join('*');
  const [, sign, rest] = /^(==?|!=)([^=<>].*)$/.exec(value) ?? [];
  if (sign === undefined) return undefined;
  const written = `${sign.startsWith('=') ? '' : '-'}${printField(term.field)}:${rest}`;
  return `the value ${cut(value)} was searched for with its ${sign}; write ${cut(written)}`;
}

function describeSource(term: SearchTree, sources: readonly Source[]): string | undefined {
  if (term.kind !== 'compare' || term.field.join('.') !== 'source' || term.operator !== '=') return undefined;
  const [name, ...rest] = term.value;
  if (rest.length > 0 || sources.some((source) => source.name === name)) return undefined;
  return `no searched source is called ${cut(name)}`;
}

/** The first description of a term. */
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
