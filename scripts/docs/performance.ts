import { type Facts, readFacts } from '../../bench/facts.ts';
import { replaceGenerated, table } from './page.ts';

const START = '<!-- `npm run docs`: bench/facts.json -->';
const END = '<!-- End -->';

/** docs/performance.md with the figures of bench/facts.json. @throws Error if the page has no place for them, or the file is wrong */
export function performancePage(): string {
  return replaceGenerated('docs/performance.md', [START, END], describeFacts(readFacts()));
}

function describeFacts({ commit, date, processor, cores, memoryGb, tables }: Facts): string {
  const machine = `Version ${commit}, ${date}: ${processor}, ${cores} cores, ${memoryGb} GB of memory.`;
  const titles = [...new Set(tables.map(({ title }) => title))];
  const parts = titles.map((title) => {
    const own = tables
      .filter((one) => one.title === title)
      .map(({ head, rows }) => table(head, rows).replaceAll(/ *\| */g, '|')); // figures, not words
    return [`### ${title}`, ...own].join('\n\n');
  });
  return [machine, ...parts].join('\n\n');
}
