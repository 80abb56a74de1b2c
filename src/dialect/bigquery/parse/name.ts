import { isNode, type Node, type Reader } from './tree.ts';

/** What a `column_ref` of the tree is: a name of some parts, `*` of a relation or of all, or the member of a list, `f(x)[offset(1)]`. */
export type NameNode =
  | { readonly kind: 'name'; readonly names: readonly string[] }
  | { readonly kind: 'star'; readonly relation: string | undefined }
  | { readonly kind: 'member'; readonly list: Node; readonly offset: string; readonly index: Node };

/** @throws TailraceError `invalid_parameter` for another form */
export function readName(reader: Reader, node: Node): NameNode {
  const table = reader.word(node, 'table');
  const before = table === undefined ? [] : [table];
  const column = reader.take(node, 'column');
  if (column === '*') return { kind: 'star', relation: table };
  if (typeof column === 'string')
    return { kind: 'name', names: [...before, column, ...readFields(reader, node)] };
  if (!isNode(column)) throw reader.refuse('has a name that is not understood', node);
  const offsets = reader.nodes(column, 'offset');
  const inner = reader.must(column, 'expr');
  const [offset] = offsets;
  if (offset !== undefined) {
    if (offsets.length > 1) throw reader.refuse('has […][…], which is not understood', node);
    const name = reader.word(offset, 'name') ?? '';
    return { kind: 'member', list: inner, offset: name.toLowerCase(), index: reader.must(offset, 'value') };
  }
  const name = readPlainName(reader, inner);
  if (name === undefined) throw reader.refuse('has an expression that is not understood', node);
  return { kind: 'name', names: [...before, name, ...readFields(reader, node)] };
}

function readFields(reader: Reader, node: Node): readonly string[] {
  const fields = reader.take(node, 'subFields') ?? [];
  if (Array.isArray(fields) && fields.every((field) => typeof field === 'string')) return fields;
  throw reader.refuse('has a path that is not understood', node);
}

/** A name in backticks or without; `undefined` for other nodes. */
function readPlainName(reader: Reader, node: Node): string | undefined {
  const type = reader.word(node, 'type');
  if (type !== 'default' && type !== 'backticks_quote_string' && type !== 'origin') return undefined;
  return reader.word(node, 'value');
}

// The parser takes some of these for names: in `FROM t RIGHT JOIN u` it would call the table RIGHT.
const RESERVED = new Set(
  `cross except for from full group having inner intersect join lateral left limit natural on order outer over pivot qualify right
  select tablesample union unpivot using where window with`.split(/\s+/),
);

const ALIAS = /^[A-Za-z_]\w{0,127}$/;

/** The name that AS gives. @throws TailraceError `invalid_parameter` for a text in quotes, or letters that no column may have */
export function readAlias(reader: Reader, node: Node): string | undefined {
  const given = reader.take(node, 'as');
  if (given === undefined) return undefined;
  const name = isNode(given) ? readPlainName(reader, given) : given;
  if (typeof given === 'string' && RESERVED.has(given.toLowerCase()))
    throw reader.refuse(`has ${given.toUpperCase()} in a place that is not understood`, node);
  if (typeof name === 'string' && ALIAS.test(name)) return name;
  const hint =
    'has AS without a plain name after it; a name has letters, digits and underscores, without quotes';
  throw reader.refuse(hint, isNode(given) ? given : node);
}

/** A word such as HOUR in the place of a value, in lower case; `week(monday)` is `isoweek`. */
export function readPart(reader: Reader, node: Node): string {
  const type = reader.word(node, 'type');
  if (type === 'origin') return (reader.word(node, 'value') ?? '').toLowerCase();
  if (type === 'column_ref') {
    const name = readName(reader, node);
    if (name.kind === 'name' && name.names.length === 1) return String(name.names[0]).toLowerCase();
  }
  if (type === 'function' && readFunctionName(reader, node) === 'week') {
    const [day] = readArguments(reader, node);
    if (day !== undefined && readPart(reader, day) === 'monday') return 'isoweek';
  }
  throw reader.refuse('has no word such as HOUR where one belongs', node);
}

/** In lower case, with the words before it, such as `net.host`. */
export function readFunctionName(reader: Reader, node: Node): string {
  const name = reader.must(node, 'name');
  const schema = reader.node(name, 'schema');
  const nodes = [...(schema === undefined ? [] : [schema]), ...reader.nodes(name, 'name')];
  return nodes
    .map((part) => readPlainName(reader, part) ?? '')
    .join('.')
    .toLowerCase();
}

export function readArguments(reader: Reader, node: Node): readonly Node[] {
  const list = reader.node(node, 'args');
  if (list === undefined) return [];
  if (reader.word(list, 'type') !== 'expr_list')
    throw reader.refuse('has arguments that are not understood', node);
  return reader.nodes(list, 'value');
}
