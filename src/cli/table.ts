import Table from 'cli-table3';

/** Of a terminal that shows a table without breaking its lines. */
export const TABLE_COLUMNS_MAX = 100;

const PADDING = 2;
const COLUMN_MIN = 8;

/** A table for people, at most `TABLE_COLUMNS_MAX` columns wide: longer cells go on in the next line. */
export function formatTable(
  head: readonly string[],
  rows: readonly (readonly (string | number)[])[],
): string {
  const cells = rows.map((row) => row.map(String));
  const widths = fitWidths(
    head.map((name, i) => Math.max(...[name, ...cells.map((row) => row[i] ?? '')].map(lengthOf))),
  );
  const table = new Table({
    head: [...head],
    style: { head: [], border: [] },
    colWidths: widths.map((width) => width + PADDING),
    // By letters, as the last resort: what was broken at spaces before stays as it is.
    wordWrap: true,
    wrapOnWordBoundary: false,
  });
  for (const row of cells) table.push(row.map((text, i) => breakAtSpaces(text, widths[i] ?? COLUMN_MIN)));
  return table.toString();
}

function lengthOf(text: string): number {
  return [...text].length;
}

/** The widest columns become narrower, one letter at a time, until all fit with their borders. */
function fitWidths(natural: readonly number[]): number[] {
  const widths = [...natural];
  const room = TABLE_COLUMNS_MAX - 1 - widths.length * (PADDING + 1);
  const total = () => widths.reduce((sum, width) => sum + width, 0);
  while (total() > room && Math.max(...widths) > COLUMN_MIN) {
    const widest = widths.indexOf(Math.max(...widths));
    widths[widest] = (widths[widest] ?? COLUMN_MIN) - 1;
  }
  return widths;
}

function breakAtSpaces(text: string, width: number): string {
  const lines: string[] = [];
  let line = '';
  for (const word of text.split(' ')) {
    const longer = line === '' ? word : `${line} ${word}`;
    if (lengthOf(longer) <= width || line === '') {
      line = longer;
      continue;
    }
    lines.push(line);
    line = word;
  }
  return [...lines, line].join('\n');
}
