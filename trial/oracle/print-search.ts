import { KEYWORD, printField, quoteText, type SearchTree, type SearchValue } from '../../src/search/tree.ts';

/** A search as text, which parses to the same tree. */
export function printSearch(tree: SearchTree): string {
  if ('items' in tree) return tree.items.map(printItem).join(tree.kind === 'and' ? ' ' : ' or ');
  if (tree.kind === 'not') return `-${printItem(tree.item)}`;
  if (tree.kind === 'text') return printWord(tree.value);
  if (tree.kind === 'exists') return `${printField(tree.field)}:*`;
  const operator = tree.operator === '=' ? '' : tree.operator;
  return `${printField(tree.field)}:${operator}${printValue(tree.value)}`;
}

function printItem(tree: SearchTree): string {
  return 'items' in tree ? `(${printSearch(tree)})` : printSearch(tree);
}

function printWord(value: SearchValue): string {
  const [text] = value;
  const isBare = /^[^\s()":*-][^\s()":*]*$/.test(text) && !KEYWORD.test(text);
  return value.length > 1 || isBare ? value.join('*') : quoteText(text);
}

function printValue(value: SearchValue): string {
  const [text] = value;
  return value.length > 1 || /^[^\s()"*<>=][^\s()"*]*$/.test(text) ? value.join('*') : quoteText(text);
}
