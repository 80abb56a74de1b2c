/** Whether a value that JSON.parse has returned is an object. */
export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Parses JSON; `undefined` if it is not valid. */
export function tryParse(text: string): unknown {
  const { stackTraceLimit } = Error;
  Error.stackTraceLimit = 0; // capturing a stack takes longer than parsing a line, and the error is discarded
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  } finally {
    Error.stackTraceLimit = stackTraceLimit;
  }
}

/** Parses JSON with integers beyond 2^53 as BigInts, since a double would round them. @throws SyntaxError */
export function parseExactJson(text: string): unknown {
  return JSON.parse(text, exactInteger);
}

/** ES2026's `context`, which TypeScript's library does not have yet. */
function exactInteger(_name: string, value: unknown, context?: { readonly source?: string }): unknown {
  const { source = '' } = context ?? {};
  const isRounded = typeof value === 'number' && !Number.isSafeInteger(value);
  return isRounded && /^-?\d+$/.test(source) ? BigInt(source) : value;
}

/** The place at which a text stops being JSON. */
export interface JsonPlace {
  /** UTF-16 units from its start. */
  readonly position: number;
  /** Both count from 1, columns in UTF-16 units. */
  readonly line: number;
  readonly column: number;
}

const SPACE = /[ \t\r\n]*/y;
// biome-ignore lint/suspicious/noControlCharactersInRegex: JSON allows none of them within a text
const TEXT = /"[^"\\\0-\x1f]*(?:\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})[^"\\\0-\x1f]*)*"/;
const NUMBER = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?(?![\w.])/;
const SCALAR = new RegExp(`${TEXT.source}|${NUMBER.source}|(?:true|false|null)(?!\\w)`, 'y');

type Expected = 'value' | 'value or ]' | 'name' | 'name or }' | ':' | 'more' | 'end';

/**
 * Finds the first character that no JSON text could have there; `undefined` if the text is JSON. `JSON.parse` names the
 * place of only some faults, and in words that differ by version.
 */
export function findJsonFault(text: string): JsonPlace | undefined {
  const open: string[] = [];
  let expected: Expected = 'value';
  let at = 0;
  const read = (pattern: RegExp) => {
    pattern.lastIndex = at;
    const [found = ''] = pattern.exec(text) ?? [];
    at += found.length;
    return found;
  };
  for (;;) {
    read(SPACE);
    const mark = text[at] ?? '';
    if (mark === '') return expected === 'end' ? undefined : placeOf(text, at);
    const next = step({ mark, expected, open }, () => read(SCALAR));
    if (next === undefined) return placeOf(text, at);
    if ('{}[]:,'.includes(mark)) at++;
    expected = next;
  }
}

/** What may stand in each place besides texts, numbers and the three words. */
const MARKS: Readonly<Record<Expected, string>> = {
  value: '{[',
  'value or ]': '{[]',
  name: '',
  'name or }': '}',
  ':': ':',
  more: ',}]',
  end: '',
};

interface State {
  readonly mark: string;
  readonly expected: Expected;
  /** The brackets that are open at this place. */
  readonly open: string[];
}

/** @returns what is expected after the next token; `undefined` if it may not stand here */
function step({ mark, expected, open }: State, readScalar: () => string): Expected | undefined {
  if (MARKS[expected].includes(mark)) return passMark(mark, open);
  if (expected.startsWith('name')) return mark === '"' && readScalar() !== '' ? ':' : undefined;
  return expected.startsWith('value') && readScalar() !== '' ? afterValue(open) : undefined;
}

function passMark(mark: string, open: string[]): Expected | undefined {
  if (mark === ':') return 'value';
  if (mark === ',') return open.at(-1) === '{' ? 'name' : 'value';
  if (mark === '}' || mark === ']')
    return open.pop() === (mark === '}' ? '{' : '[') ? afterValue(open) : undefined;
  open.push(mark);
  return mark === '{' ? 'name or }' : 'value or ]';
}

function afterValue(open: readonly string[]): Expected {
  return open.length === 0 ? 'end' : 'more';
}

function placeOf(text: string, position: number): JsonPlace {
  const before = text.slice(0, position);
  const start = before.lastIndexOf('\n') + 1;
  return { position, line: before.split('\n').length, column: position - start + 1 };
}
