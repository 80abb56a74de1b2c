import type { Pages } from '../definitions/pages.ts';
import { splitLines } from '../query/format.ts';
import { at } from '../query/page.ts';
import { type Position, readPosition } from '../query/position.ts';
import type { Question } from '../query/question.ts';
import type { Run, RunOptions } from '../query/run.ts';

export interface TailRow {
  readonly position: Position;
  /** The position as one text. */
  readonly name: string;
  /** JSON on one line. */
  readonly row: Buffer;
}

/** Rows of a question, one page after the other, newest first. */
export interface RowsRead {
  readonly rows: readonly TailRow[];
  /** `whole`: there are no older rows. `met`: the reading found its end. `cut`: it reached a bound before. */
  readonly end: 'whole' | 'met' | 'cut';
}

/** The lane for which a page is read, and the signal that ends it. */
export type PageOptions = Pick<RunOptions, 'signal' | 'lane' | 'onJoin'>;

export interface ReadBackOptions extends PageOptions {
  /** The cursor before the rows; from the newest row if left out. */
  readonly from?: Position | undefined;
  /** Whether a page that ends with this row is the last one to be read. @param rows that were read so far */
  readonly isEnough: (row: TailRow, rows: readonly TailRow[]) => boolean;
}

/** Beyond either the reading is cut: rows are held in memory until the oldest is sent. */
const READ_ROWS_MAX = 10_000;
const READ_MIB_MAX = 8;
export const READ_MAX = `${READ_ROWS_MAX} rows or ${READ_MIB_MAX} MiB`;

/** Returns the pages of a question that is tailed. */
export function getPages({ endpoint }: Question): Pages {
  if (endpoint.pages !== undefined) return endpoint.pages;
  throw new Error(`${endpoint.name} has no pages`); // serve/resolve-tail.ts rejects such endpoints
}

/** Reads the first page. @throws the failure of the query */
export async function readFirst(run: Run, question: Question, options: PageOptions): Promise<RowsRead> {
  const { rows, last } = await readPage(run, question, options);
  return { rows, end: last === undefined ? 'whole' : 'met' };
}

/** Reads pages backwards in time. @throws the failure of a query */
export async function readBack(
  run: Run,
  question: Question,
  { from, isEnough, ...options }: ReadBackOptions,
): Promise<RowsRead> {
  const rows: TailRow[] = [];
  let bytes = 0;
  for (let next = from; ; ) {
    const page = await readPage(run, next === undefined ? question : at(question, next), options);
    rows.push(...page.rows);
    bytes += page.bytes;
    if (page.last === undefined) return { rows, end: 'whole' };
    const last = page.rows.at(-1);
    if (last === undefined || isEnough(last, rows)) return { rows, end: 'met' };
    if (rows.length >= READ_ROWS_MAX || bytes >= READ_MIB_MAX * 1024 * 1024) return { rows, end: 'cut' };
    next = page.last;
  }
}

async function readPage(run: Run, question: Question, options: RunOptions) {
  const pages = getPages(question);
  const answer = await run(question, options);
  const rows = splitLines(answer.body).map((row): TailRow => {
    const position = readPosition(pages, row);
    return { position, name: JSON.stringify(position), row };
  });
  return { rows, last: answer.last, bytes: answer.body.length };
}
