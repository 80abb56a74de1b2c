import type { SyntaxNode } from '../syntax-tree.ts';

/** The name of a function or an identifier of EXPLAIN AST: the word after the kind of node. */
export function nameOf({ text }: SyntaxNode): string {
  return /^[^ ]*/.exec(text)?.[0] ?? '';
}

/** The name that a node of EXPLAIN AST is given. */
export function givenNameOf({ text }: SyntaxNode): string | undefined {
  return /(?:^| )\(alias (\w+)\)$/.exec(text)?.[1];
}

const ESCAPES: Readonly<Record<string, string>> = { n: '\n', t: '\t', r: '\r', b: '\b', f: '\f', 0: '\0' };

/** The text that a node of EXPLAIN AST holds, such as `'it\'s'`; `undefined` for a node that is no text. */
export function textOf(node: SyntaxNode | undefined): string | undefined {
  if (node?.kind !== 'Literal') return undefined;
  const text = /^'((?:[^'\\]|\\[\s\S])*)'/.exec(node.text)?.[1];
  return text?.replaceAll(/\\([\s\S])/g, (_, c: string) => ESCAPES[c] ?? c);
}
