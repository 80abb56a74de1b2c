/** A node of the parser's tree. */
interface Node {
  readonly [member: string]: unknown;
}

/**
 * The tree with AND before OR everywhere. The parser reads `a OR f(x) AND b` as `(a OR f(x)) AND b` if the operand in the middle is no
 * comparison. Its tree has the operands in the order of the text, so that they can be joined again.
 */
export function restorePrecedence(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(restorePrecedence);
  if (!isNode(value)) return value;
  if (!isChain(value))
    return Object.fromEntries(
      Object.entries(value).map(([name, member]) => [name, restorePrecedence(member)]),
    );
  const alternatives: unknown[][] = [[]]; // between OR, each with its operands between AND
  collect(value, alternatives);
  const joined = join(
    'OR',
    alternatives.map((operands) => join('AND', operands)),
  );
  return value['parentheses'] === true && isNode(joined) ? { ...joined, parentheses: true } : joined;
}

function isNode(value: unknown): value is Node {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function isChain(node: Node): boolean {
  return node['type'] === 'binary_expr' && (node['operator'] === 'AND' || node['operator'] === 'OR');
}

function collect(node: Node, alternatives: unknown[][]): void {
  for (const side of ['left', 'right']) {
    const operand = node[side];
    if (side === 'right' && node['operator'] === 'OR') alternatives.push([]);
    if (isNode(operand) && isChain(operand) && operand['parentheses'] !== true)
      collect(operand, alternatives);
    else alternatives.at(-1)?.push(restorePrecedence(operand));
  }
}

function join(operator: string, operands: readonly unknown[]): unknown {
  return operands.reduce((left, right) => ({
    type: 'binary_expr',
    operator,
    left,
    right,
    ...(isNode(left) && { loc: left['loc'] }),
  }));
}
