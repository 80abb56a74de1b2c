import { CST, type Document, isCollection, isScalar, Lexer, visit } from 'yaml';

/**
 * A reason to keep a text from the YAML library, or a fault that the library would find in more than linear time.
 * Offsets are UTF-16 units.
 */
export interface YamlFault {
  readonly offset: number;
  readonly message: string;
}

/** Tokens of one text; the library takes up to 10 µs for each. The largest shipped definition has 400. */
export const YAML_TOKENS_MAX = { draft: 4_000, file: 200_000 } as const;
// The library recurses: it ends its stack at some thousand levels, and takes 10 ms per thousand tokens before. A
// definition has 6.
const DEPTH_MAX = 64;

const NAME_CHARS_MAX = 60;

const OPENING: ReadonlySet<string> = new Set(['flow-seq-start', 'flow-map-start']);
const CLOSING: ReadonlySet<string> = new Set(['flow-seq-end', 'flow-map-end']);
// In `- - - a` each of them opens a level in one line; in brackets, in one item: `{a: b: c: d`.
const COMPACT: ReadonlySet<string> = new Set(['seq-item-ind', 'explicit-key-ind', 'map-value-ind']);

/** Reads the tokens of a text up to the first bound that it exceeds, in linear time and without recursion. */
export function findYamlExcess(text: string, tokensMax: number): YamlFault | undefined {
  const line = createLine();
  let tokens = 0;
  let offset = 0;
  let isText = false; // whether a text follows, which may look like a sign
  for (const lexeme of new Lexer().lex(text)) {
    const type = isText ? 'scalar' : (CST.tokenType(lexeme) ?? 'scalar');
    isText = lexeme === CST.SCALAR;
    if (isMark(lexeme)) continue;
    if (type !== 'space' && ++tokens > tokensMax)
      return {
        offset,
        message: `has more than ${tokensMax} words and signs; usual definitions have a few hundred`,
      };
    if (line.enter(type, lexeme.length) > DEPTH_MAX)
      return {
        offset,
        message: `is nested more than ${DEPTH_MAX} levels deep; usual definitions have at most 6`,
      };
    offset += lexeme.length;
  }
  return undefined;
}

/** Control characters that the lexer adds to the text. */
function isMark(lexeme: string): boolean {
  return lexeme === CST.DOCUMENT || lexeme === CST.FLOW_END || lexeme === CST.SCALAR;
}

/** Tracks the depth of nesting: of indented lines, within the line, and of brackets. */
function createLine() {
  const indents: number[] = []; // of the lines around this one
  let atStart = true;
  let indent = 0;
  let compact = 0;
  let flow = 0;

  function begin(): void {
    atStart = true;
    indent = 0;
    if (flow === 0) compact = 0;
  }

  function enterLine(): void {
    if (!atStart) return;
    atStart = false;
    if (flow > 0) return;
    while ((indents.at(-1) ?? -1) >= indent) indents.pop();
    indents.push(indent);
  }

  function open(type: string): void {
    if (OPENING.has(type)) flow++;
    if (CLOSING.has(type)) flow = Math.max(flow - 1, 0);
    if (COMPACT.has(type)) compact++;
    else if (type === 'comma' || OPENING.has(type) || CLOSING.has(type)) compact = 0;
  }

  return {
    /** @returns the depth after a token */
    enter(type: string, length: number): number {
      if (type === 'newline') begin();
      else if (type === 'space') indent += atStart ? length : 0;
      else {
        enterLine();
        open(type);
      }
      return indents.length + compact + flow;
    },
  };
}

/**
 * Finds repeated keys of a map, which the library would find by comparing each with all others, and aliases within their own
 * anchor: their value would have no end.
 */
export function findNodeFaults(document: Document.Parsed): YamlFault[] {
  const faults: YamlFault[] = [];
  visit(document, {
    Map(_, { items }) {
      const seen = new Set<unknown>();
      for (const key of items.map((item) => item.key).filter((one) => isScalar(one))) {
        if (seen.has(key.value))
          faults.push({ offset: key.range?.[0] ?? 0, message: describeRepeated(key.value) });
        seen.add(key.value);
        // A project 0123 would be another one, as would one of 19 digits.
        if (typeof key.value === 'number' && key.source !== undefined && key.source !== String(key.value))
          faults.push({
            offset: key.range?.[0] ?? 0,
            message: `${key.source.slice(0, NAME_CHARS_MAX)} is a number, read as ${key.value}; write the name in quotes`,
          });
      }
    },
    Alias(_, { source, range }, around) {
      if (around.some((node) => isCollection(node) && node.anchor === source))
        faults.push({
          offset: range?.[0] ?? 0,
          message: `*${source} is inside its own anchor &${source}; remove the alias`,
        });
    },
  });
  return faults;
}

function describeRepeated(key: unknown): string {
  return `${JSON.stringify(String(key).slice(0, NAME_CHARS_MAX))} is there twice; remove one, or rename it`;
}
