import Table from 'cli-table3';
import { toPrintable } from './format.ts';

/** The width of a terminal on which no line of a table breaks. */
export const TABLE_COLUMNS_MAX = 100;

const PADDING = 2;
const COLUMN_MIN = 8;

type Rows = readonly (readonly (string | number)[])[];

/** Formats a table as wide as its cells. */
export function formatWideTable(head: readonly string[], rows: Rows): string {
  const table = new Table({ head: [...head], style: { head: [], border: [] } });
  table.push(...rows.map((row) => row.map((cell) => toPrintable(String(cell)))));
  return table.toString();
}

/** Formats a table at most `TABLE_COLUMNS_MAX` wide: longer cells are wrapped. */
export function formatTable(head: readonly string[], rows: Rows): string {
  const cells = rows.map((row) => row.map((cell) => toPrintable(String(cell))));
  const widths = fitWidths(
    head.map((name, i) => Math.max(...[name, ...cells.map((row) => row[i] ?? '')].map(lengthOf))),
  );
  const table = new Table({
    head: [...head],
    style: { head: [], border: [] },
    colWidths: widths.map((width) => width + PADDING),
    // The last resort, between letters: `breakAtSpaces` has broken all other lines.
    wordWrap: true,
    wrapOnWordBoundary: false,
  });
  for (const row of cells) table.push(row.map((text, i) => breakAtSpaces(text, widths[i] ?? COLUMN_MIN)));
  return table.toString();
}

function lengthOf(text: string): number {
  return [...text].length;
}

/** Narrows the widest columns, one letter at a time, until all fit with their borders. */
function fitWidths(natural: readonly number[]): number[] {
  const widths = [...natural];
  const available = TABLE_COLUMNS_MAX - 1 - widths.length * (PADDING + 1);
  const total = () => widths.reduce((sum, width) => sum + width, 0);
  while (total() > available && Math.max(...widths) > COLUMN_MIN) {
    const widest = widths.indexOf(Math.max(...widths));
    widths[widest] = (widths[widest] ?? COLUMN_MIN) - 1;
  }
  return widths;
}

function breakAtSpaces(text: string, width: number): string {
  const lines = [''];
  for (const word of text.split(' ')) {
    const line = lines.at(-1) ?? '';
    const longer = line === '' ? word : `${line} ${word}`;
    if (line === '' || lengthOf(longer) <= width) lines.splice(-1, 1, longer);
    else lines.push(word);
  }
  return lines.join('\n');
}
