const MADE = '<!-- Made by `npm run docs` from the code; edit the code instead. -->';

/** A generated page. */
export function page(title: string, introduction: string, body: string): string {
  return `${MADE}\n\n# ${title}\n\n${introduction}\n\n${body}\n`;
}

/** A table of Markdown. */
export function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) =>
    `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`;
  return [line(head), line(head.map(() => '---')), ...rows.map(line)].join('\n');
}
