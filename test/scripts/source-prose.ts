// One alternative for each kind of token; what matches none of them is code. A regular expression follows an operator, a bracket or `return`.
const TOKEN =
  /(?<comment>\/\*[\s\S]*?\*\/|\/\/[^\n]*)|(?<regex>(?<=[(,=:[!&|?{};>]\s*|\breturn )\/(?![*/])(?:\\.|\[(?:\\.|[^\]\\\n])*\]|[^/\\\n[])+\/)|(?<text>'(?:\\.|[^'\\\n])*'|"(?:\\.|[^"\\\n])*"|`(?:\\[\s\S]|[^`\\])*`)/g;

/** Returns the words of a string literal. What a template inserts, and the quoted names of SQL, become code spans. */
function contentOf(literal: string): string {
  const content = literal.slice(1, -1).replaceAll('\\`', '`').replaceAll(/'\w+'/g, '`name`');
  return literal.startsWith('`') ? content.replaceAll(/\$\{[^{}\n]*\}/g, '`value`') : content;
}

/**
 * Returns the comments and string literals of a TypeScript text, on their lines. Code is left out, and so are literals without a
 * space: names, paths and codes.
 */
export function findProse(code: string): string {
  const parts: string[] = [];
  let end = 0;
  for (const { 0: token, index, groups } of code.matchAll(TOKEN)) {
    const isText = groups?.['text'] !== undefined && /\s/.test(token);
    parts.push(code.slice(end, index).replaceAll(/[^\n]/g, ''));
    if (groups?.['comment'] !== undefined) parts.push(token);
    else parts.push(isText ? contentOf(token) : '', ' ; ');
    end = index + token.length;
  }
  return parts.join('');
}
