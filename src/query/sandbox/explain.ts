/** A node of a tree as EXPLAIN prints it, a line a node. */
export interface ExplainNode {
  /** What the line says, without its indent and the count of children. */
  readonly text: string;
  /** The first word: the kind of node. */
  readonly kind: string;
  /** The word after it, where there is one: the name of a function or an identifier. */
  readonly name: string;
  readonly children: readonly ExplainNode[];
}

interface OpenNode extends ExplainNode {
  readonly children: OpenNode[];
}

const LINE = /^( *)((\w[\w:]*)(?: ([^ ]+))?.*?)(?: \(children \d+\))?$/;

/**
 * Reads the lines of EXPLAIN AST. They can be told apart because the engine escapes strings, and because names that hold
 * anything but letters, digits and underscores have been refused before (canonical.ts).
 *
 * @throws Error where a line is not one of a tree: nothing is guessed
 */
export function parseTree(lines: readonly string[]): ExplainNode {
  const root: OpenNode = { text: '', kind: 'Root', name: '', children: [] };
  const path: OpenNode[] = [root];
  for (const line of lines) {
    const [, indent, text, kind, name = ''] = LINE.exec(line) ?? [];
    if (indent === undefined || text === undefined || kind === undefined)
      throw new Error('a line of EXPLAIN AST cannot be read');
    const parent = path[indent.length];
    if (parent === undefined) throw new Error('a line of EXPLAIN AST has no parent');
    const node: OpenNode = { text, kind, name, children: [] };
    parent.children.push(node);
    path.length = indent.length + 1;
    path.push(node);
  }
  return root;
}

/** Every node below one, itself first. */
export function* walk(node: ExplainNode): Generator<ExplainNode> {
  yield node;
  for (const child of node.children) yield* walk(child);
}
