/** A name on one of the paths whose values are read. Slots are numbered so that those of a subtree follow each other. */
export interface PathNode {
  readonly name: string;
  readonly bytes: Buffer;
  /** The slot of the value itself; -1 if only values inside of it are read. */
  slot: number;
  readonly children: PathNode[];
  /** The slots of this node and all below it: from, and before. */
  from: number;
  before: number;
}

/** The paths of the values to read: see `planPaths`. */
export interface PathPlan {
  readonly root: PathNode;
  /** The slot of each path, in the order of the paths. */
  readonly slots: readonly number[];
}

/** Plans which values to read. Paths lead through objects only. */
export function planPaths(paths: readonly (readonly string[])[]): PathPlan {
  const root = createNode('');
  const ends = paths.map((path) => path.reduce(childOf, root));
  for (const end of ends) end.slot = 0;
  number(root, 0);
  return { root, slots: ends.map(({ slot }) => slot) };
}

function createNode(name: string): PathNode {
  return { name, bytes: Buffer.from(name), slot: -1, children: [], from: 0, before: 0 };
}

function childOf(node: PathNode, name: string): PathNode {
  const known = node.children.find((child) => child.name === name);
  if (known !== undefined) return known;
  const child = createNode(name);
  node.children.push(child);
  return child;
}

/** @returns the first slot after those of the subtree */
function number(node: PathNode, from: number): number {
  let next = from;
  if (node.slot !== -1) node.slot = next++;
  for (const child of node.children) next = number(child, next);
  node.from = from;
  node.before = next;
  return next;
}
