import { isAscii } from 'node:buffer';
import { NOT_JSON, readString } from './grammar.ts';
import { type JsonScan, MEMBER_SPANS, scanJson } from './scan.ts';

/** A member of a JSON object: its decoded name and the exact text of its value. */
export interface Member {
  readonly name: string;
  readonly text: string;
}

/**
 * Cuts the top-level members of a JSON object out of its text, so that values stay exact: parsing and serializing them would
 * reorder keys that look like numbers and round integers above 2^53.
 *
 * @throws NOT_JSON
 */
export function cutMembers(text: string): Member[] {
  const { spans, cut } = scanText(text, 'object');
  return Array.from({ length: spans.length / MEMBER_SPANS }, (_, i) => ({
    name: readString(cut(MEMBER_SPANS * i)),
    text: cut(MEMBER_SPANS * i + 2),
  }));
}

/** Cuts the elements of a JSON array out of its text; see `cutMembers`. */
export function cutElements(text: string): string[] {
  const { spans, cut } = scanText(text, 'array');
  return Array.from({ length: spans.length / 2 }, (_, i) => cut(2 * i));
}

function scanText(text: string, kind: JsonScan['kind']) {
  const bytes = Buffer.from(text);
  const { spans, ...scanned } = scanJson(bytes);
  if (scanned.kind !== kind) throw NOT_JSON;
  const isText = isAscii(bytes);
  const cut = (at: number) =>
    isText ? text.slice(spans[at], spans[at + 1]) : bytes.toString('utf8', spans[at], spans[at + 1]);
  return { spans, cut };
}
