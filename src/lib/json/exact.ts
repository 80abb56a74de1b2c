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
