import { KEYWORD, printField, quoteText, type SearchTree, type SearchValue } from '../../src/search/parse.ts';

/** A search as text, which parses to the same tree. */
export function printSearch(tree: SearchTree): string {
  if ('items' in tree) return tree.items.map(printItem).join(tree.kind === 'and' ? ' ' : ' or ');
  if (tree.kind === 'not') return `-${printItem(tree.item)}`;
  if (tree.kind === 'text') return printWord(tree.value);
  if (tree.kind === 'exists') return `${printField(tree.field)}:*`;
  const operator = tree.operator === '=' ? '' : tree.operator;
  const value = tree.isQuoted ? quoteText(tree.value[0]) : tree.value.join('*');
  return `${printField(tree.field)}:${operator}${value}`;
}

function printItem(tree: SearchTree): string {
  return 'items' in tree ? `(${printSearch(tree)})` : printSearch(tree);
}

function printWord(value: SearchValue): string {
  const [text] = value;
  const isBare = /^[^\s()":*-][^\s()":*]*$/.test(text) && !KEYWORD.test(text);
  return value.length > 1 || isBare ? value.join('*') : quoteText(text);
}

/** Whether a value of a field is in quotes: if it has to be, or as it may be. */
export function isQuotedValue(value: SearchValue, mayBe: boolean): boolean {
  const [text] = value;
  return value.length === 1 && (mayBe || !/^[^\s()"*<>=][^\s()"*]*$/.test(text));
}
