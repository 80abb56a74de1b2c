import { readFile, stat } from 'node:fs/promises';
import {
  CST,
  type Document,
  isCollection,
  isMap,
  isNode,
  isScalar,
  Lexer,
  LineCounter,
  type Node,
  Parser,
  parseDocument,
  visit,
  type YAMLParseError,
} from 'yaml';
import { type Fault, formatFault, InputError, messageOf, placeAt } from '../errors.ts';

const FILE_BYTES_MAX = 1024 * 1024;
// A document of a few nested aliases can stand for gigabytes; no definition needs more than a handful.
const ALIASES_MAX = 100;

/** Tokens of one text; the library takes up to 10 µs for each. The largest shipped definition has 400. */
export const YAML_TOKENS_MAX = { draft: 4_000, file: 200_000 } as const;
// Faults of one text: a typing error at the top of a file can be followed by thousands.
const FAULTS_MAX = 20;

/**
 * `<<` merges a map, as in YAML 1.1 and common tools. A key is the text that is written: 0123 is not 123. `findNodeFaults`
 * checks that keys are unique, in linear time. Warnings would go to the process's own log.
 */
export const YAML_OPTIONS = { merge: true, stringKeys: true, uniqueKeys: false, logLevel: 'error' } as const;

/** Place of a value in the document, such as `['parameters', 'interval', 'values']`. */
export type YamlPath = readonly (string | number)[];

/** What is wrong with a value of a file. */
export type FieldFault = readonly [path: YamlPath, message: string];
export type FieldFaults = Generator<FieldFault>;

export interface YamlFile {
  readonly file: string;
  readonly text: string;
  readonly value: unknown;
  fault(path: YamlPath, message: string): Fault;
}

export function toFaults(file: YamlFile, faults: Iterable<FieldFault>): Fault[] {
  return Array.from(faults, (fault) => file.fault(...fault));
}

/** Reads one YAML file, or returns every fault of its syntax. */
export async function readYamlFile(path: string): Promise<YamlFile | Fault[]> {
  const text = await readText(path);
  return typeof text === 'string' ? parseYaml(path, text) : [text];
}

/** Parses the text of a YAML file, as `readYamlFile` returns it. @param tokensMax see `YAML_TOKENS_MAX` */
export function parseYaml(
  file: string,
  text: string,
  tokensMax: number = YAML_TOKENS_MAX.file,
): YamlFile | Fault[] {
  const excess = findYamlExcess(text, tokensMax);
  if (excess !== undefined) return [{ file, ...placeAt(text, excess.offset), message: excess.message }];
  const lines = new LineCounter();
  const document = parseQuickly(text, lines);
  const faultAt = (offset: number, message: string) => {
    const { line, col } = lines.linePos(offset);
    return { file, line: Math.max(line, 1), column: Math.max(col, 1), message }; // an empty text has no lines
  };
  const faults = findFaults(document, text).slice(0, FAULTS_MAX);
  if (faults.length > 0) return faults.map(({ offset, message }) => faultAt(offset, message));
  const fault = (path: YamlPath, message: string): Fault => {
    // A missing field is reported at the nearest map that exists.
    for (let length = path.length; length >= 0; length--) {
      const start = startOf(document, path.slice(0, length));
      if (start !== undefined) return faultAt(start, message);
    }
    return { file, line: 1, message };
  };
  try {
    return { file, text, value: document.toJS({ maxAliasCount: ALIASES_MAX }), fault };
  } catch (error) {
    return [{ file, line: 1, message: messageOf(error) }];
  }
}

/**
 * A reason to keep a text from the YAML library, or a fault that the library would find in more than linear time.
 * Offsets are UTF-16 units.
 */
interface YamlFault {
  readonly offset: number;
  readonly message: string;
}

// The library recurses: it ends its stack at some thousand levels, and takes 10 ms per thousand tokens before. A
// definition has 6.
const DEPTH_MAX = 64;

// Spaces, and the signs that the lexer adds to the text.
const UNCOUNTED: ReadonlySet<string | null> = new Set(['space', 'doc-mode', 'flow-error-end', 'scalar']);

/**
 * Reads a text up to the first bound that it exceeds, in linear time and without recursion: the parser of tokens has the
 * nodes around each in a list.
 */
function findYamlExcess(text: string, tokensMax: number): YamlFault | undefined {
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
function findNodeFaults(document: Document.Parsed): YamlFault[] {
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

function findFaults(document: Document.Parsed, text: string): YamlFault[] {
  const { errors, warnings } = document;
  // The library reports some mistakes twice, in two words.
  const different = errors.filter(({ pos }, i) => pos[0] !== errors[i - 1]?.pos[0]);
  // Otherwise a value with an unknown tag would be read as a text.
  const tags = warnings.filter(({ code }) => code === 'TAG_RESOLVE_FAILED');
  return [
    ...different.map((error) => ({ offset: error.pos[0], message: describe(error, text) })),
    ...tags.map(({ pos, message }) => ({ offset: pos[0], message: `${message}; remove the tag` })),
    ...findNodeFaults(document),
  ];
}

const SHOWN_CHARS_MAX = 60;

/**
 * Returns the first line of the library's message, which may name its own functions, or what a user would call the
 * fault.
 */
function describe({ code, pos, message }: YAMLParseError, text: string): string {
  if (code === 'MULTIPLE_DOCS') return 'has several documents; write each into its own file';
  if (code === 'BLOCK_AS_IMPLICIT_KEY')
    return 'the value is followed by another `name: value`; put the value in quotes, or indent the next line like this one';
  // It is reported where a name begins without a colon.
  if (!/^Implicit (?:map )?keys need/.test(message)) return message.split('\n')[0] ?? '';
  const [line = ''] = text.slice(pos[0], pos[0] + SHOWN_CHARS_MAX).split(/[\r\n]/);
  return `\`${line.trimEnd()}\` is not \`name: value\`; a colon may be missing`;
}

/** Parses without places and stacks in the errors: both take longer than parsing. */
function parseQuickly(text: string, lineCounter: LineCounter): Document.Parsed {
  const { stackTraceLimit } = Error;
  Error.stackTraceLimit = 0;
  try {
    return parseDocument(text, { ...YAML_OPTIONS, prettyErrors: false, lineCounter });
  } finally {
    Error.stackTraceLimit = stackTraceLimit;
  }
}

/** Returns the offset of a value's name: a map itself begins on the line after it. */
function startOf(document: Document.Parsed, at: YamlPath): number | undefined {
  const parent = document.getIn(at.slice(0, -1), true);
  const name = at.at(-1);
  const pair = isMap(parent)
    ? parent.items.find(({ key }) => isScalar(key) && String(key.value) === String(name))
    : undefined;
  const node = pair?.key ?? (at.length === 0 ? document.contents : document.getIn(at, true));
  return isNode(node) ? node.range?.[0] : undefined;
}

/** Reads the text of a definition file; returns the fault if it cannot be read. */
export async function readText(path: string): Promise<string | Fault> {
  const fault = (message: string) => ({ file: path, line: 1, message });
  try {
    const bytes = await readFile(path);
    if (bytes.length <= FILE_BYTES_MAX) return bytes.toString('utf8');
    return fault(`is ${bytes.length} bytes; a definition file has at most ${FILE_BYTES_MAX}`);
  } catch (error) {
    return fault(describeFailure(error, 'is missing'));
  }
}

function describeFailure(error: unknown, missing: string): string {
  const isMissing = error instanceof Error && 'code' in error && error.code === 'ENOENT';
  return isMissing ? missing : `cannot be read: ${messageOf(error)}`;
}

/** A file of the operator that a setting names. */
export interface OperatorFile {
  readonly setting: string;
  /** Bits of the mode that must not be set, and what is wrong with a file that has them. */
  readonly mode?: { readonly forbidden: number; readonly fault: string };
  /** Whether it holds secrets, so that no message may quote it. */
  readonly isSecret?: boolean;
}

/**
 * Reads the file that a setting names; `undefined` if it is empty.
 * @throws InputError if it is missing, open to every user or not YAML
 */
export async function readOperatorFile(
  path: string,
  { setting, mode: rule, isSecret }: OperatorFile,
): Promise<YamlFile | undefined> {
  const reject = (message: string): never => {
    throw new InputError([formatFault({ file: path, line: 1, message })]);
  };
  const { mode } = await stat(path).catch((error: unknown) =>
    reject(describeFailure(error, `is missing; ${setting} names it`)),
  );
  if (rule !== undefined && (mode & rule.forbidden) !== 0)
    reject(`${rule.fault} (mode ${(mode & 0o777).toString(8)})`);
  const file = await readYamlFile(path);
  if (!Array.isArray(file)) return file.value === null || file.value === undefined ? undefined : file;
  throw new InputError((isSecret === true ? file.map(withoutQuotes) : file).map(formatFault));
}

/** Cuts a message of the YAML library before what it quotes of the file. */
function withoutQuotes({ message, ...place }: Fault): Fault {
  return { ...place, message: `is not YAML: ${(message.split(/[:"'`*&]/, 1)[0] ?? '').trim()}` };
}
