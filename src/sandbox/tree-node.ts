import type { SyntaxNode } from './syntax-tree.ts';

// Nodes of EXPLAIN QUERY TREE.

/** The nodes of a clause, such as `PROJECTION` of a `QUERY` or `ARGUMENTS` of a `FUNCTION`; a list is flattened. */
export function clause(node: SyntaxNode, name: string): readonly SyntaxNode[] {
  return node.children
    .filter(({ kind }) => kind === name)
    .flatMap(({ children }) => children)
    .flatMap((child) => (child.kind === 'LIST' ? child.children : [child]));
}

export function viewNameOf({ text }: SyntaxNode): string | undefined {
  return /\bcte_name: ([^ ,]+)/.exec(text)?.[1];
}

export function identifierOf({ text }: SyntaxNode): string {
  return /\bidentifier: ([^ ,]+)$/.exec(text)?.[1] ?? '';
}

export function isSelect({ kind }: SyntaxNode): boolean {
  return kind === 'QUERY' || kind === 'UNION';
}

/** Whether the children of a node are read as tables. */
export function isTablePlace({ kind }: SyntaxNode): boolean {
  return /^(?:JOIN TREE|(?:LEFT |RIGHT )?TABLE EXPRESSION)$/.test(kind);
}

/** The table of one row that a SELECT without FROM reads in the engine's tree. */
export const NO_TABLE = 'system.one';

// Nodes of EXPLAIN AST.

/** The name of a function or an identifier: the word after the kind of node. */
export function nameOf({ text }: SyntaxNode): string {
  return /^[^ ]*/.exec(text)?.[0] ?? '';
}

export function givenNameOf({ text }: SyntaxNode): string | undefined {
  return /(?:^| )\(alias (\w+)\)$/.exec(text)?.[1];
}

const ESCAPES: Readonly<Record<string, string>> = { n: '\n', t: '\t', r: '\r', b: '\b', f: '\f', 0: '\0' };

/** The text that a node of EXPLAIN AST holds, such as `'it\'s'`; `undefined` for other nodes. */
export function textOf(node: SyntaxNode | undefined): string | undefined {
  if (node?.kind !== 'Literal') return undefined;
  const text = /^'((?:[^'\\]|\\[\s\S])*)'/.exec(node.text)?.[1];
  return text?.replaceAll(/\\([\s\S])/g, (_, c: string) => ESCAPES[c] ?? c);
}
