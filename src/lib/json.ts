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
