import { setImmediate as nextTurn } from 'node:timers/promises';

/** The engine's answer in a `ReportFormat`. */
export interface Report {
  /** Rows of JSON, joined by commas: the engine's bytes. */
  readonly rows: Buffer;
  readonly count: number;
  readonly rowsRead: number;
  readonly bytesRead: number;
}

// The document has the tabs and line breaks of the engine; in texts both are escaped, so the following marks occur nowhere else.
const HEAD = '\n\t"data":\n\t[\n';
const END = '\n\t]';
const SEPARATOR = ',\n';
const ROW = /^\t\t[[{]/;

/** Splits a document as bytes. @throws Error for bytes that are not such a document */
export function readReport(document: Buffer): Report {
  const head = document.indexOf(HEAD);
  const start = head + HEAD.length;
  const end = document.indexOf(END, start - 1);
  if (head === -1 || end === -1) throw new Error('the engine wrote no report');
  const tail = document.toString('utf8', end);
  return {
    rows: document.subarray(start, Math.max(start, end)),
    count: readNumber(tail, '\n\t"rows": '),
    rowsRead: readNumber(tail, '\n\t\t"rows_read": '),
    bytesRead: readNumber(tail, '\n\t\t"bytes_read": '),
  };
}

/** Finds the last member of a name: columns of totals, which may have any name, come before it. */
function readNumber(tail: string, label: string): number {
  return Number.parseInt(tail.slice(tail.lastIndexOf(label) + label.length), 10);
}

/** Returns the rows without the last one. */
export function dropLastRow({ rows, ...report }: Report): Report {
  let end = rows.length;
  do end = rows.lastIndexOf(SEPARATOR, end - 1);
  while (
    end !== -1 &&
    !ROW.test(rows.toString('latin1', end + SEPARATOR.length, end + SEPARATOR.length + 3))
  );
  return { ...report, rows: rows.subarray(0, Math.max(end, 0)), count: report.count - 1 };
}

// Parsing a megabyte of text takes about a millisecond.
const TURN_BYTES = 1024 * 1024;

/** Parses rows that are a text each, as in `["{…}"]`, and returns the texts. The event loop runs between parts of them. */
export async function unwrapRows({ rows, ...report }: Report): Promise<Report> {
  const texts: Buffer[] = [];
  let turn = TURN_BYTES;
  for (let at = 0; at < rows.length; ) {
    const found = rows.indexOf(SEPARATOR, at);
    const end = found === -1 ? rows.length : found;
    const [text] = JSON.parse(rows.toString('utf8', at, end)) as [string]; // one column, a text
    texts.push(Buffer.from(at === 0 ? text : `,${text}`));
    at = end + SEPARATOR.length;
    if (at < turn) continue;
    turn = at + TURN_BYTES;
    await nextTurn();
  }
  return { ...report, rows: Buffer.concat(texts) };
}
