import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Pages } from '../definitions/pages.ts';
import { LINE_END, lastLine } from './format.ts';
import type { ParameterValues } from './parameters.ts';
import { comparePositions, findSkipped, type Position, readPosition, withSent } from './position.ts';

// Rows that are parsed at once: other requests wait meanwhile.
const PARSED_BYTES_MAX = 256 * 1024;

/**
 * Where a page ends: the position of its last row, and how many rows of this position were sent up to here.
 *
 * @param lines rows in JSON, at least one
 */
export async function findPageEnd(pages: Pages, values: ParameterValues, lines: Buffer): Promise<Position> {
  const last = lastLine(lines);
  const position = readPosition(pages, last);
  if (!pages.canSkip) return position;
  let equal = 1;
  let parsed = last.length;
  let left = lines.subarray(0, lines.length - last.length - LINE_END.length);
  while (left.length > 0) {
    const row = lastLine(left);
    if (!row.equals(last)) {
      parsed += row.length;
      if (parsed > PARSED_BYTES_MAX) {
        await nextTurn();
        parsed = row.length;
      }
      if (comparePositions(pages, readPosition(pages, row), position) !== 0)
        return withSent(pages, position, equal);
    }
    equal++;
    left = left.subarray(0, left.length - row.length - LINE_END.length);
  }
  return withSent(pages, position, equal + findSkipped(pages, values, position));
}

/** The same of a page whose positions are known. @param positions of all its rows, at least one */
export function endOfPositions(
  pages: Pages,
  values: ParameterValues,
  positions: readonly Position[],
): Position | undefined {
  const last = positions.at(-1);
  if (last === undefined || !pages.canSkip) return last;
  const before = positions.findLastIndex((one) => comparePositions(pages, one, last) !== 0) + 1;
  const skipped = before === 0 ? findSkipped(pages, values, last) : 0;
  return withSent(pages, last, positions.length - before + skipped);
}
