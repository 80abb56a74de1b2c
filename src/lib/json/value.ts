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
