import { formatJson } from '../../api/answer.ts';
import { formatValue, type Line, valueAt } from '../../ui/lines/line.ts';
import { isClosed, type Token, tokenize, unquoteValue } from '../explore/query-text.ts';

type Test = (line: Line) => boolean;

/**
 * Parses what lines must match, written as a search (docs/search.md). It is for lines that are loaded, so texts are looked for in the
 * metadata, too; levels have no order; and a text that is not complete yet matches as far as it goes.
 */
export function parseFilter(text: string): Test {
  const rest = tokenize(text).filter(({ kind }) => kind !== 'space');
  const textOf = ({ from, until }: Token) => text.slice(from, until);
  const take = (kind: Token['kind'], ...texts: readonly string[]): string | undefined => {
    const [token] = rest;
    if (token?.kind !== kind) return undefined;
    const found = textOf(token);
    if (texts.length > 0 && !texts.includes(found.toLowerCase())) return undefined;
    rest.shift();
    return found;
  };
  const parseOr = (): Test => {
    const tests = [parseAnd()];
    while (take('keyword', 'or') !== undefined) tests.push(parseAnd());
    return (line) => tests.some((test) => test(line));
  };
  const parseAnd = (): Test => {
    const tests: Test[] = [];
    for (let test = parseTerm(); test !== undefined; test = parseTerm()) {
      tests.push(test);
      take('keyword', 'and');
    }
    return (line) => tests.every((test) => test(line));
  };
  const parseTerm = (): Test | undefined => {
    if (take('keyword', '-', 'not') !== undefined) {
      const test = parseTerm();
      return test && ((line) => !test(line));
    }
    if (take('group', '(') !== undefined) {
      const test = parseOr();
      take('group', ')');
      return test;
    }
    const field = take('field');
    if (field !== undefined) return fieldTest(field.slice(0, -1), take('operator'), take('value') ?? '*');
    const word = take('word') ?? take('phrase');
    return word === undefined ? undefined : textTest(word);
  };
  return parseOr();
}

/** Message and metadata of lines in lower case: each is looked at with every letter that is typed. */
const texts = new WeakMap<Line, string>();

function textTest(written: string): Test {
  const wanted = toPattern(written, 'is');
  return (line) => {
    const text = texts.get(line) ?? `${line.message}\n${formatJson(line.metadata, 0)}`;
    texts.set(line, text);
    return wanted.test(text);
  };
}

function fieldTest(field: string, operator: string | undefined, written: string): Test {
  const read = (line: Line) =>
    formatValue(valueAt(line, field) ?? (field === 'level' ? line.level : null) ?? '');
  const value = unquoteValue(written);
  if (operator !== undefined) return (line) => isInRange(read(line), operator, value);
  if (written === '*') return (line) => read(line) !== '';
  const wanted = toPattern(written, field === 'level' ? 'is' : 's', true);
  return (line) => wanted.test(read(line));
}

function isInRange(text: string, operator: string, bound: string): boolean {
  if (text === '') return false;
  const [a, b] = [Number(text), Number(bound)];
  const order = Number.isNaN(a) || Number.isNaN(b) ? (text < bound ? -1 : text > bound ? 1 : 0) : a - b;
  if (order === 0) return operator.endsWith('=');
  return operator.startsWith('<') ? order < 0 : order > 0;
}

/** `*` matches any text, but not in quotes. */
function toPattern(written: string, flags: string, isWhole = false): RegExp {
  const isQuoted = written.startsWith('"') && isClosed(written);
  const parts = isQuoted ? [unquoteValue(written)] : unquoteValue(written).split('*');
  const source = parts.map((part) => part.replaceAll(/[\\^$.*+?()[\]{}|]/g, '\\$&')).join('[^]*');
  return new RegExp(isWhole ? `^${source}$` : source, flags);
}
