import type { SyntaxNode } from '../syntax-tree.ts';

/** The nodes of a clause of a node, such as `PROJECTION` of a `QUERY` or `ARGUMENTS` of a `FUNCTION`; those of a list one by one. */
export function clause(node: SyntaxNode, name: string): readonly SyntaxNode[] {
  return node.children
    .filter(({ kind }) => kind === name)
    .flatMap(({ children }) => children.flatMap(unlist));
}

function unlist(node: SyntaxNode): readonly SyntaxNode[] {
  return node.kind === 'LIST' ? node.children : [node];
}

/** Names are plain (canonical.ts refuses others), so that no name can hold a field. */
export function aliasOf({ text }: SyntaxNode): string | undefined {
  return /^alias: (\w+)/.exec(text)?.[1];
}

export function viewNameOf({ text }: SyntaxNode): string | undefined {
  return /\bcte_name: ([^ ,]+)/.exec(text)?.[1];
}

/** In small letters. */
export function functionNameOf({ text }: SyntaxNode): string {
  return (/\bfunction_name: ([^ ,]+)/.exec(text)?.[1] ?? '').toLowerCase();
}

export function identifierOf({ text }: SyntaxNode): string {
  return /\bidentifier: ([^ ,]+)$/.exec(text)?.[1] ?? '';
}

/** The value of a `CONSTANT` as the engine writes it, texts in quotes. */
export function constantOf({ text }: SyntaxNode): string {
  return /\bconstant_value: (.*), constant_value_type: /s.exec(text)?.[1] ?? '';
}

export function isSelect({ kind }: SyntaxNode): boolean {
  return kind === 'QUERY' || kind === 'UNION';
}

const TABLE_PLACE = /^(?:JOIN TREE|(?:LEFT |RIGHT )?TABLE EXPRESSION)$/;

/** Whether what stands under it is read as a table. */
export function isTablePlace({ kind }: SyntaxNode): boolean {
  return TABLE_PLACE.test(kind);
}

/** What a SELECT without FROM reads in the engine's tree: one row, of nothing. */
export const NO_TABLE = 'system.one';
