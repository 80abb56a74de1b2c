import { expect, test } from 'vitest';
import { findWords, WORDS } from './words.ts';

test.each([
  ['"abc" is no number', '"is no number": is not a …, has no …'],
  ['one service in the place of another', '"in the place of": instead of'],
  ['A connection of its own for half of them.', '"of its own": its own …, their own …, your own …'],
  ['They differ in `.` alone.', '"alone": "only" before its word'],
  ['any text, also none', '"also none": including …'],
  ['It is deleted, also if it waits.', '", also if": even if …'],
  ['A wrong value is refused.', '"refused": reject, rejection'],
  ['They answer no rows.', '"answer no": returns …'],
])('finds the form to avoid in: %s', (text, found) => {
  expect(findWords(`First.\n${text}`)).toEqual([`line 2: ${found}`]);
});

test.each([
  'If there is no page, the list is no longer sent.',
  'If there\nis no page.',
  'A copy of its own files. Its own files.',
  'Leave it alone.',
  '"connection refused", `refused`, tailrace_events_refused_total',
  '```\nrefused\n```',
  'a stand-in\nfor answers with time buckets',
])('accepts: %s', (text) => {
  expect(findWords(text)).toEqual([]);
});

test('a pattern matches no text that is empty, and can be used for all matches of a text', () => {
  const unfit = WORDS.filter(({ pattern }) => !pattern.global || ''.match(pattern) !== null);
  expect(unfit).toEqual([]);
});
