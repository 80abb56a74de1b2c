// A name, and a text in double quotes with escapes, or in backquotes without. Every alternative begins with another
// character, so that the time is in proportion to the text.
const LABEL = /\s*([A-Za-z_][\w.:/-]*)\s*=\s*("(?:[^"\\\n]|\\[^\n])*"|`[^`]*`)\s*(,|\}\s*$)/y;
const EMPTY_LABELS = /^\s*\{\s*\}\s*$/;

/** Reads Loki's text of labels, such as `{app="gateway", level="info"}`; `undefined` if it is not well-formed. */
export function parseLabels(text: string): Record<string, string> | undefined {
  if (EMPTY_LABELS.test(text)) return {};
  const entries: [string, string][] = [];
  LABEL.lastIndex = text.indexOf('{') + 1;
  if (text.slice(0, LABEL.lastIndex).trim() !== '{') return undefined;
  for (let end = false; !end; ) {
    const [, name = '', quoted = '', after = ''] = LABEL.exec(text) ?? [];
    const value = unquote(quoted);
    if (value === undefined) return undefined;
    entries.push([name, value]);
    end = after !== ',';
  }
  return Object.fromEntries(entries);
}

const ESCAPE = /\\(?:x([0-9a-fA-F]{2})|u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8})|([0-7]{3})|(.))/g;
const SINGLE: Readonly<Record<string, string>> = {
  ...{ a: '\x07', b: '\b', f: '\f', n: '\n', r: '\r', t: '\t', v: '\v' },
  ...{ '\\': '\\', '"': '"', "'": "'" },
};
const CODE_POINT_MAX = 0x10ffff;

/** Reads a text as Go quotes it; `undefined` if it is not one. */
function unquote(quoted: string): string | undefined {
  if (quoted.startsWith('`')) return quoted.slice(1, -1);
  if (quoted === '') return undefined;
  const inner = quoted.slice(1, -1);
  if (!inner.includes('\\')) return inner;
  let isWrong = false;
  const text = inner.replaceAll(
    ESCAPE,
    (_, x?: string, u?: string, long?: string, octal?: string, one = '') => {
      const hex = x ?? u ?? long;
      const code = hex === undefined ? Number.parseInt(octal ?? '', 8) : Number.parseInt(hex, 16);
      if (code <= CODE_POINT_MAX) return String.fromCodePoint(code);
      const single = SINGLE[one];
      isWrong ||= single === undefined;
      return single ?? '';
    },
  );
  return isWrong ? undefined : text;
}
