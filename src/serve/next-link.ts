import { CURSOR_PARAMETER } from '../definitions/pages.ts';
import type { Cursors } from '../query/cursor.ts';
import type { Position } from '../query/position.ts';
import type { Question } from '../query/question.ts';
import type { Answer } from '../query/run.ts';

interface FullPage {
  readonly url: string | undefined;
  readonly question: Question;
  /** The position at which the answer ends. */
  readonly last: Position;
}

/** Finds the `Link` of a full page to the next one (RFC 8288). Each cursor is signed once. */
export function createNextLinks(cursors: Pick<Cursors, 'createWriter'>) {
  const known = new WeakMap<Answer, string>();
  return ({ url, question, last }: FullPage, answer: Answer): string | undefined => {
    if (url === undefined) return undefined;
    const { endpoint, values } = question;
    const cursor = known.get(answer) ?? cursors.createWriter(endpoint, values)(last);
    known.set(answer, cursor);
    return `<${withCursor(url, cursor)}>; rel="next"`;
  };
}

/** Returns the URL with another cursor. Its other parameters stay as they were sent. */
function withCursor(url: string, cursor: string): string {
  const start = url.indexOf('?');
  const path = start === -1 ? url : url.slice(0, start);
  const pairs = start === -1 ? [] : url.slice(start + 1).split('&');
  const others = pairs.filter((pair) => pair !== '' && !isCursor(pair));
  const next = `${path}?${[...others, `${CURSOR_PARAMETER}=${cursor}`].join('&')}`;
  return next.replaceAll(/[<>"\\^`{|} ]/g, encodeURIComponent); // a reference in < > has none of these
}

function isCursor(pair: string): boolean {
  const name = pair.split('=', 1)[0] ?? '';
  if (!name.includes('%')) return name === CURSOR_PARAMETER;
  try {
    return decodeURIComponent(name) === CURSOR_PARAMETER;
  } catch {
    return false;
  }
}
