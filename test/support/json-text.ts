import fc from 'fast-check';

// Arbitraries of JSON text: any value, in any layout that the grammar allows.

export const space = fc.stringMatching(/^[ \t\r\n]{0,3}$/);
export const string = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 8 }).map((value) => JSON.stringify(value)),
  fc.constantFrom(
    ...String.raw`"\u0041" "\/" "\\" "\"" "}" "," ":" "\ud800" "a.b" "__proto__" "1"`.split(' '),
  ),
);
// V8 13.6 (Node 24) sometimes parses a name that is one escape, such as "\\n", as a backslash, once it has parsed "\\\\" as a name.
const name = string.map((text) =>
  /^"\\(?:[^u]|u[0-9a-f]{4})"$/i.test(text) ? text.replace('"', '"k') : text,
);
const leaf = fc.oneof(
  string,
  fc.double({ noNaN: true, noDefaultInfinity: true }).map((n) => JSON.stringify(n)),
  fc.constantFrom(
    '[ ]',
    ...'null true 1.0 -0 1E5 123456789012345678901234567890 9007199254740993 {} []'.split(' '),
  ),
);
export const { json } = fc.letrec<{ json: string }>((tie) => ({
  json: fc.oneof(
    { maxDepth: 3 },
    leaf,
    fc
      .array(fc.tuple(space, tie('json'), space), { maxLength: 3 })
      .map((items) => `[${items.map((item) => item.join('')).join(',')}]`),
    fc
      .array(fc.tuple(space, name, space, space, tie('json'), space), { maxLength: 3 })
      .map(
        (items) =>
          `{${items.map(([a, text, b, c, value, d]) => `${a}${text}${b}:${c}${value}${d}`).join(',')}}`,
      ),
  ),
}));

const STRINGS = /("(?:[^"\\]|\\.)*")(\s*:)?/g;

/** Counts the names of all objects of a JSON text. */
export const countNames = (text: string) =>
  [...text.matchAll(STRINGS)].filter(([, , colon]) => colon !== undefined).length;

export const toHex = (name: string) => Buffer.from(name, 'utf16le').toString('hex');

/** Parses JSON, with its names in hex: V8 13.6 reads the second of two names with the same escape as another name. */
export function parseByHex(text: string): unknown {
  const inHex = (quoted: string) => `"${toHex(JSON.parse(quoted) as string)}":`;
  return JSON.parse(
    text.replaceAll(STRINGS, (all, quoted: string, colon?: string) =>
      colon === undefined ? all : inHex(quoted),
    ),
  );
}

export function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
