import type { Line } from './line.ts';
import type { LinePage, Slice } from './source.ts';

/** The time after the lines that were read, up to the end of the range. Microseconds since the epoch, the end exclusive. */
export interface Newer {
  readonly fromMicros: number;
  readonly untilMicros: number;
  /** Width of the next window; undefined: not known yet. */
  readonly widthMicros: number | undefined;
}

type ReadWindow = (bounds: Slice, cursor: string | undefined) => Promise<LinePage>;

const FIRST_WIDTH_MICROS = 1_000_000;
const WIDEN = 4;

/** The first window is as long as the older lines that were read. */
export function findWindow(newer: Newer, lines: readonly Line[]): Newer {
  const lengthMicros = (lines[0]?.micros ?? 0) - (lines.at(-1)?.micros ?? 0);
  return { ...newer, widthMicros: lengthMicros > 0 ? lengthMicros : FIRST_WIDTH_MICROS };
}

/**
 * Reads on towards newer lines. The service returns the newest lines of a range first, so this reads short windows: one with more than
 * a page is made shorter, down to a microsecond, which is read page by page; after one with few lines the next is longer.
 *
 * @param enough reads until there are as many lines, or the range ends
 */
export async function readNewer(
  newer: Newer,
  enough: number,
  readWindow: ReadWindow,
): Promise<{ readonly lines: readonly Line[]; readonly left: Newer }> {
  const { untilMicros } = newer;
  const lines: Line[] = [];
  let [from, width] = [newer.fromMicros, newer.widthMicros ?? FIRST_WIDTH_MICROS];
  while (from < untilMicros && lines.length < enough) {
    const until = Math.min(untilMicros, from + width);
    const bounds = { fromMs: from / 1_000, untilMs: until / 1_000 };
    let page = await readWindow(bounds, undefined);
    if (page.next !== undefined && until - from > 1) {
      width = Math.max(1, Math.floor((until - from) / WIDEN));
      continue;
    }
    lines.push(...page.lines);
    while (page.next !== undefined && lines.length < PAGED_MAX) {
      page = await readWindow(bounds, page.next);
      lines.push(...page.lines);
    }
    from = until;
    if (lines.length < enough) width *= WIDEN;
  }
  return { lines, left: { fromMicros: from, untilMicros, widthMicros: width } };
}

/** Lines of one microsecond: more than a list shows would not be read to their end. */
const PAGED_MAX = 10_000;
