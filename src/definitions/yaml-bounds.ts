import { CST, type Document, isCollection, isScalar, Lexer, type Node, Parser, visit } from 'yaml';

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

// Spaces, and the signs that the lexer adds to the text.
const UNCOUNTED: ReadonlySet<string | null> = new Set(['space', 'doc-mode', 'flow-error-end', 'scalar']);

/**
 * Reads a text up to the first bound that it exceeds, in linear time and without recursion: the parser of tokens has the
 * nodes around each in a list.
 */
export function findYamlExcess(text: string, tokensMax: number): YamlFault | undefined {
  const parser = new Parser();
  let tokens = 0;
  for (const lexeme of new Lexer().lex(text)) {
    const { offset } = parser;
    if (!UNCOUNTED.has(CST.tokenType(lexeme)) && ++tokens > tokensMax)
      return {
        offset,
        message: `has more than ${tokensMax} words and signs; usual definitions have a few hundred`,
      };
    Array.from(parser.next(lexeme)); // a generator, which only works while it is read
    if (parser.stack.length > DEPTH_MAX)
      return {
        offset,
        message: `is nested more than ${DEPTH_MAX} levels deep; usual definitions have at most 6`,
      };
  }
  return undefined;
}

const NAME_CHARS_MAX = 60;

/**
 * Finds repeated keys of a map, which the library would find by comparing each with all others, and aliases within their own
 * anchor: their value would have no end.
 */
export function findNodeFaults(document: Document.Parsed): YamlFault[] {
  const faults: YamlFault[] = [];
  const report = ({ range }: Node, message: string) => faults.push({ offset: range?.[0] ?? 0, message });
  visit(document, {
    Map(_, { items }) {
      const seen = new Set<string>();
      for (const key of items.map((item) => item.key).filter((one) => isScalar(one))) {
        const name = String(key.value);
        if (seen.has(name))
          report(
            key,
            `${JSON.stringify(name.slice(0, NAME_CHARS_MAX))} is there twice; remove one, or rename it`,
          );
        seen.add(name);
      }
    },
    Alias(_, alias, around) {
      const { source } = alias;
      if (around.some((node) => isCollection(node) && node.anchor === source))
        report(alias, `*${source} is inside its own anchor &${source}; remove the alias`);
    },
  });
  return faults;
}
