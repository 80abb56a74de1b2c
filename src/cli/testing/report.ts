import { styleText } from 'node:util';
import { diffLines } from './expectation.ts';
import type { CaseResult } from './run-file.ts';

/** Writes the results for people: a line for each case, and below a failed one the differences. */
export function toText(results: readonly CaseResult[]): string {
  const files = Map.groupBy(results, ({ test }) => test.file);
  return [...files].map(([file, own]) => `${file}\n${own.map(caseText).join('')}`).join('');
}

function caseText(result: CaseResult): string {
  const { isPassed, case: one, test } = result;
  if (isPassed) return `  ${styleText('green', '✓')} ${one.name}\n`;
  const lines = failureLines(result).map((line) => `      ${coloured(line)}\n`);
  return `  ${styleText('red', '✗')} ${one.name}  (${test.file}:${one.line})\n${lines.join('')}`;
}

function coloured(line: string): string {
  if (line.startsWith('-')) return styleText('red', line);
  return line.startsWith('+') ? styleText('green', line) : line;
}

/** Describes why a case failed. */
export function failureLines({ case: one, outcome }: CaseResult): string[] {
  const why = 'error' in outcome ? [`returned ${outcome.error.code}: ${outcome.error.message}`] : [];
  return [...why, '- expected', '+ returned', ...diffLines(one, outcome)];
}

/** Writes a summary such as `2 of 9 tests failed`. */
export function summarise(results: readonly CaseResult[]): string {
  const failed = results.filter(({ isPassed }) => !isPassed).length;
  const all = results.length === 1 ? '1 test' : `${results.length} tests`;
  return failed === 0 ? `${all} passed` : `${failed} of ${all} failed`;
}

/** Writes the results as JUnit's XML, which CI services read. */
export function toJunit(results: readonly CaseResult[]): string {
  const suites = [...Map.groupBy(results, ({ test }) => test)].map(([test, own]) => {
    const cases = own.map(caseElement).join('');
    return element('testsuite', { name: test.file, ...countsOf(own) }, cases);
  });
  const all = element('testsuites', { name: 'tailrace', ...countsOf(results) }, suites.join(''));
  return `<?xml version="1.0" encoding="UTF-8"?>\n${all}`;
}

function countsOf(results: readonly CaseResult[]) {
  const ms = results.reduce((sum, { elapsedMs }) => sum + elapsedMs, 0);
  return {
    tests: results.length,
    failures: results.filter(({ isPassed }) => !isPassed).length,
    time: (ms / 1000).toFixed(3),
  };
}

function caseElement(result: CaseResult): string {
  const { case: one, test, isPassed, elapsedMs } = result;
  const time = (elapsedMs / 1000).toFixed(3);
  const attributes = { name: one.name, classname: test.endpoint.name, file: test.file, line: one.line, time };
  if (isPassed) return element('testcase', attributes, '');
  const lines = escapeXml(failureLines(result).join('\n'));
  return element('testcase', attributes, element('failure', { message: 'another answer' }, lines));
}

function element(
  name: string,
  attributes: Readonly<Record<string, string | number>>,
  content: string,
): string {
  const pairs = Object.entries(attributes).map(([key, value]) => ` ${key}="${escapeXml(String(value))}"`);
  return content === ''
    ? `<${name}${pairs.join('')}/>\n`
    : `<${name}${pairs.join('')}>${content}</${name}>\n`;
}

const ENTITIES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };

/** Replaces characters that XML 1.0 cannot contain, even escaped, by U+FFFD. */
function escapeXml(text: string): string {
  return text
    .replaceAll(/[^\t\n\r\u{20}-\u{D7FF}\u{E000}-\u{FFFD}\u{10000}-\u{10FFFF}]/gu, '\u{FFFD}')
    .replaceAll(/[&<>"]/g, (character) => ENTITIES[character] ?? '');
}
