/** Whether a value that JSON.parse has returned is an object. */
export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Returns the value at a path of parsed JSON; `undefined` if there is none. Walks objects only, by their own members. */
export function findValue(json: unknown, path: readonly string[]): unknown {
  let value = json;
  for (const name of path) {
    if (!isObject(value) || !Object.hasOwn(value, name)) return undefined;
    value = value[name];
  }
  return value;
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

// biome-ignore lint/suspicious/noControlCharactersInRegex: JSON allows none of them within a text
const TEXT = /"[^"\\\0-\x1f]*(?:\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})[^"\\\0-\x1f]*)*"/;
const NUMBER = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?(?![\w.])/;
const TOKEN = new RegExp(
  String.raw`([ \t\r\n]*)(${TEXT.source}|${NUMBER.source}|(?:true|false|null)(?!\w)|[{}[\]:,])?`,
  'y',
);
/** The kinds of tokens that begin a value: text, number or word, object, list. */
const VALUE = '"0{[';

/**
 * Finds the first character that no JSON text could have there; `undefined` if the text is JSON. `JSON.parse` names the
 * place of only some faults, and in words that differ by version.
 */
export function findJsonFault(text: string): JsonPlace | undefined {
  const open: string[] = [];
  let allowed = VALUE; // the kinds of tokens that may follow
  let at = 0;
  for (;;) {
    TOKEN.lastIndex = at;
    const [, space = '', token = ''] = TOKEN.exec(text) ?? [];
    at += space.length;
    if (at === text.length) return allowed === '' ? undefined : placeOf(text, at);
    const kind = /^[\w-]/.test(token) ? '0' : token.charAt(0);
    if (token === '' || !allowed.includes(kind)) return placeOf(text, at);
    at += token.length;
    const isName = kind === '"' && !allowed.includes('{');
    allowed = isName ? ':' : allowedAfter(kind, open);
  }
}

/** @param open the brackets that are open before the token, then those after it */
function allowedAfter(kind: string, open: string[]): string {
  if (kind === '{' || kind === '[') open.push(kind);
  if (kind === '}' || kind === ']') open.pop();
  const inside = open.at(-1);
  if (kind === '{') return '"}';
  if (kind === '[') return `${VALUE}]`;
  if (kind === ':') return VALUE;
  if (kind === ',') return inside === '{' ? '"' : VALUE;
  if (inside === undefined) return '';
  return inside === '{' ? ',}' : ',]';
}

function placeOf(text: string, position: number): JsonPlace {
  const before = text.slice(0, position);
  const start = before.lastIndexOf('\n') + 1;
  return { position, line: before.split('\n').length, column: position - start + 1 };
}
