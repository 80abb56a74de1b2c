import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  findPlace,
  type Suggestion,
  suggest,
  textToInsert,
} from '../../console/src/page/explore/completion.ts';
import type { FieldName, FieldValue } from '../../console/src/page/explore/exploring.ts';
import { parseSearch, type SearchClause, type SearchTree } from '../../src/search/parse.ts';
import { runs } from '../support/property.ts';

const NAMED = ['level', 'project', 'request.path', 'response.status_code', 'event_message'];
const FIELDS = NAMED.map((name): FieldName => {
  return { name, type: name === 'response.status_code' ? 'integer' : 'string', description: '' };
});

/** What is offered where `|` stands. */
function offer(marked: string, isAsked = false, values: readonly FieldValue[] = []) {
  const caret = marked.indexOf('|');
  const text = marked.replace('|', '');
  const place = findPlace(text, caret);
  const found = place === undefined ? [] : suggest({ text, place, fields: FIELDS, values, isAsked });
  return { text, place, found, labels: found.map(({ label }) => label) };
}

/** The text with a suggestion in it, `|` behind what was inserted. */
function accept(marked: string, label: string, values: readonly FieldValue[] = []): string {
  const { text, place, found } = offer(marked, true, values);
  const suggestion = found.find((one) => one.label === label);
  if (place === undefined || suggestion === undefined) throw new Error(`${label} is not offered`);
  return insert(text, place, suggestion).join('|');
}

function insert(
  text: string,
  { from, until }: { from: number; until: number },
  suggestion: Suggestion,
): [before: string, after: string] {
  const rest = text.slice(until);
  return [text.slice(0, from) + textToInsert(suggestion, rest), rest];
}

describe('after a field and its colon', () => {
  const values = [
    { value: 'error', count: 1200 },
    { value: 'info', count: 7 },
  ];

  test('its values are offered, then operators', () => {
    expect(offer('level:|', false, values).labels).toEqual(['error', 'info', '*', '>=', '>', '<=', '<']);
    expect(offer('x -level:|', false, values).place).toMatchObject({ field: 'level' });
    expect(offer('level:>=|', false, values).labels).toEqual(['error', 'info']);
    expect(offer('level:>=N|', false, values).labels).toEqual(['info']);
    expect(offer('level:info|', false, values).labels).toEqual([]);
    expect(offer('level:|', false, values).found[0]?.detail).toBe('1,200');
  });

  test('a value replaces the one that is there, the operator stays, and the next term follows after a space', () => {
    expect(accept('level:>=e|', 'error', values)).toBe('level:>=error |');
    expect(accept('level:>=i|nf timeout', 'info', values)).toBe('level:>=info| timeout');
    expect(accept('(level:|)', 'error', values)).toBe('(level:error|)');
    expect(accept('level:"in| request.path:/x', 'info', values)).toBe('level:info| request.path:/x');
    expect(accept('level:"in|for" x', 'info', values)).toBe('level:info| x');
    expect(accept('level:|>=error', 'info', values)).toBe('level:info |');
    expect(accept('level:|', '>=', values)).toBe('level:>=|');
  });
});

const NAMES = ['level', 'request.path', 'headers."x.request:id"', 'and', '"-a"'];
const piece = fc.constantFrom(...'aé"\\ :*()->=.\t', '\u{1f600}', 'or');
const anyText = fc.array(piece, { maxLength: 12 }).map((pieces) => pieces.join(''));
function clausesOf(tree: SearchTree): readonly SearchClause[] {
  if ('items' in tree) return tree.items.flatMap(clausesOf);
  return tree.kind === 'not' ? clausesOf(tree.item) : [tree];
}

test('for every search an inserted value is the value that the service compares with', () => {
  fc.assert(
    fc.property(
      fc.constantFrom('', 'timeout ', '-', '"a b" or (x ', 'level:error and '),
      fc.constantFrom(...NAMES),
      fc.constantFrom('', '>=', '<'),
      anyText,
      fc.constantFrom('', ' timeout', ' or level:info'),
      (before, name, operator, value, after) => {
        const start = `${before}${name}:${operator}`;
        const end = before.includes('(') ? `)${after}` : after;
        const text = start + end;
        const place = findPlace(text, start.length);
        if (place === undefined) throw new Error('no place');
        const values = [{ value, count: 1 }];
        const found = suggest({ text, place, fields: FIELDS, values, isAsked: false });
        const suggestion = found.find(({ kind }) => kind === 'value');
        if (suggestion === undefined) throw new Error('not offered');
        const whole = insert(text, place, suggestion).join('');
        const tree = parseSearch(whole, 100);
        const expected = expect.objectContaining({ operator: operator || '=', value: [value] });
        expect(tree && clausesOf(tree)).toContainEqual(expected);
      },
    ),
    runs(500),
  );
});
