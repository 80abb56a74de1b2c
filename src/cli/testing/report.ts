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
