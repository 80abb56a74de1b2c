import { FIGURE_NAMES, FIGURES, type Guard, readGuard } from '../../bench/guard.ts';
import { replaceGenerated, table } from './page.ts';

const START = '<!-- `npm run docs`: bench/guard.json -->';
const END = '<!-- End -->';

/** docs/performance.md with the figures of bench/guard.json. @throws Error if the page has no place for them, or the file is wrong */
export function performancePage(): string {
  return replaceGenerated('docs/performance.md', [START, END], describeGuard(readGuard()));
}

function describeGuard({ commit, date, cores, figures }: Guard): string {
  const rows = FIGURE_NAMES.map((name) => [FIGURES[name], String(figures[name])]);
  return table([`${commit}, ${date}, ${cores} cores`, 'Ratio'], rows);
}
