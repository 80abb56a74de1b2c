import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  findPlace,
  type Suggestion,
  suggest,
  textToInsert,
} from '../../console/src/page/explore/completion.ts';
import { tokenize } from '../../console/src/page/explore/query-text.ts';
import type { FieldValue } from '../../console/src/ui/lines/field-list.tsx';
import { parseSearch } from '../../src/search/parse.ts';
import type { SearchClause, SearchTree } from '../../src/search/tree.ts';
import { isQuotedValue, printSearch } from '../../trial/oracle/print-search.ts';
import { runs } from '../support/property.ts';

const FIELDS = ['level', 'project', 'request.path', 'response.status_code', 'event_message'].map((name) => ({
  name,
  type: name === 'response.status_code' ? 'integer' : 'string',
}));

/** What is offered where `|` stands. */
function offer(marked: string, isAsked = false, values: readonly FieldValue[] = []) {
  const caret = marked.indexOf('|');
  const text = marked.replace('|', '');
  const place = findPlace(text, caret);
  const recent = ['timeout level:error'];
  const found = place === undefined ? [] : suggest({ text, place, fields: FIELDS, values, recent, isAsked });
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

describe('while a term is typed', () => {
  test('fields that contain it are offered, those that begin with it first', () => {
    expect(offer('pa|').labels).toEqual(['request.path']);
    expect(offer('timeout -(E|').labels).toEqual([
      'event_message',
      'level',
      'project',
      'request.path',
      'response.status_code',
    ]);
    expect(offer('timeout -(st|').labels).toEqual(['response.status_code', 'request.path']);
    expect(accept('timeout -(st| or x', 'response.status_code')).toBe(
      'timeout -(response.status_code:| or x',
    );
    expect(accept('pa|:error', 'request.path')).toBe('request.path:|error');
  });

  test('keywords are offered at the places that they may have', () => {
    expect(offer('timeout o|').labels.filter((label) => label.length < 4)).toEqual(['or']);
    expect(offer('a|').labels).not.toContain('and');
    expect(offer('level:error |', true).labels.slice(-3)).toEqual(['and', 'or', 'not']);
    expect(offer('(|', true).labels).toEqual([...FIELDS.map(({ name }) => name), 'not']);
    expect(accept('timeout a|', 'and')).toBe('timeout and |');
  });

  test('nothing is offered within a phrase, behind a term, or for what is there already', () => {
    for (const marked of ['"connection le|', '"connection le|vel"', 'timeout |', 'project|:aurora'])
      expect([marked, offer(marked).labels]).toEqual([marked, []]);
  });

  test('an empty field offers recent searches, and fields if it is asked', () => {
    expect(offer('|').labels).toEqual(['timeout level:error']);
    expect(offer('|', true).labels).toEqual(['timeout level:error', ...FIELDS.map(({ name }) => name)]);
    expect(accept('|', 'timeout level:error')).toBe('timeout level:error|');
  });
});

describe('after a field and its colon', () => {
  const values = [
    { value: 'error', count: 1200 },
    { value: 'info', count: 7 },
  ];

  test('its values are offered, then operators', () => {
    expect(offer('level:|', false, values).labels).toEqual(['error', 'info', '*', '>=', '>', '<=', '<']);
    expect(offer('x -level:|', false, values).place).toMatchObject({ kind: 'value', field: 'level' });
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

  test('operators come first for numbers and times', () => {
    expect(offer('response.status_code:|', false, values).labels.slice(0, 2)).toEqual(['*', '>=']);
  });

  test('values of several lines are not offered', () => {
    expect(offer('level:|', false, [{ value: 'a\nb', count: 1 }]).labels).not.toContain('a\nb');
  });
});

const NAMES = ['level', 'request.path', 'headers."x.request:id"', 'and', '"-a"'];
const piece = fc.constantFrom(
  'a',
  'é',
  '"',
  '\\',
  ' ',
  ':',
  '*',
  '(',
  ')',
  '-',
  '>',
  '=',
  '.',
  '\u{1f600}',
  'or',
  '\t',
);
const anyText = fc.array(piece, { maxLength: 12 }).map((pieces) => pieces.join(''));
const anyTree: fc.Arbitrary<SearchTree> = fc.letrec<{ tree: SearchTree }>((tie) => ({
  tree: fc.oneof(
    { maxDepth: 3 },
    fc.record({ kind: fc.constant('text' as const), value: fc.tuple(anyText) }),
    fc
      .record({
        kind: fc.constant('compare' as const),
        field: fc.tuple(fc.constantFrom('level', 'a b'), fc.constantFrom('x', '"y')),
        operator: fc.constantFrom('=' as const, '>=' as const),
        value: fc.tuple(anyText),
        isQuoted: fc.boolean(),
        position: fc.constant(0),
      })
      .map((clause) => ({ ...clause, isQuoted: isQuotedValue(clause.value, clause.isQuoted) })),
    fc.record({
      kind: fc.constantFrom('and' as const, 'or' as const),
      items: fc.array(tie('tree'), { minLength: 2, maxLength: 3 }),
    }),
    fc.record({ kind: fc.constant('not' as const), item: tie('tree') }),
  ),
})).tree;

function clausesOf(tree: SearchTree): readonly SearchClause[] {
  if ('items' in tree) return tree.items.flatMap(clausesOf);
  return tree.kind === 'not' ? clausesOf(tree.item) : [tree];
}

describe('for every search', () => {
  test('the tokens have no gaps, of wrong texts either', () => {
    fc.assert(
      fc.property(anyText, (text) => {
        expect(
          tokenize(text)
            .map(({ from, until }) => text.slice(from, until))
            .join(''),
        ).toBe(text);
      }),
      runs(500),
    );
  });

  test('there is a token for each term that the service reads', () => {
    fc.assert(
      fc.property(anyTree, (tree) => {
        const text = printSearch(tree);
        const kinds = tokenize(text).map(({ kind }) => kind);
        const terms = clausesOf(tree).map(({ kind }) => (kind === 'text' ? 'text' : 'value'));
        const read = kinds.flatMap((kind) =>
          kind === 'word' || kind === 'phrase' ? ['text'] : kind === 'value' ? [kind] : [],
        );
        expect([text, read]).toEqual([text, terms]);
      }),
      runs(300),
    );
  });

  test('an inserted value is the value that the service compares with', () => {
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
          const found = suggest({ text, place, fields: FIELDS, values, recent: [], isAsked: false });
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
});
