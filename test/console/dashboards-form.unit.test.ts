import { readFile } from 'node:fs/promises';
import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import {
  findMove,
  type Place,
  readForm,
  withEndpoint,
  withMove,
  withoutPanel,
  withPanel,
  withPanelParameter,
  withPanelText,
  withParameter,
  withRange,
  withShow,
} from '../../console/src/page/dashboards/edit/file-form.ts';

const TEXT = `# Whose it is
id: a0000000-0000-4000-8000-000000000001
name: one
title: One
range: 7d # a week
parameters:
  project: aurora
  days: 14
rows:
  - height: 100 # low
    panels:
      - { endpoint: a, show: number, columns: [n], parameters: { ids: [1, 2], x: y } }
      - show: text
        text: Call ops.
  - panels:
      # the last one
      - endpoint: b
        title: "5"
`;

const rowsOf = (text: string) =>
  (parse(text) as { rows: { panels: object[] }[] }).rows.map(({ panels }) => panels);
const namesOf = (text: string) =>
  readForm(text)?.rows.map((panels) => panels.map(({ endpoint, text }) => endpoint || text));

function formOf(text: string) {
  const form = readForm(text);
  if (form === undefined) throw new Error('no form');
  return form;
}

describe('the form of a dashboard', () => {
  test('shows range, parameters and panels of the file', () => {
    const none = { endpoint: '', show: '', title: '', text: '', parameters: {} };
    expect(formOf(TEXT)).toEqual({
      ...{ range: '7d', parameters: { project: 'aurora', days: '14' } },
      rows: [
        [
          { ...none, endpoint: 'a', show: 'number', parameters: { ids: '1,2', x: 'y' } },
          { ...none, show: 'text', text: 'Call ops.' },
        ],
        [{ ...none, endpoint: 'b', title: '5' }],
      ],
    });
  });

  test.each([
    '',
    'a',
    'rows: 5',
    'rows: []',
    'rows: [{ panels: [] }]',
    'rows: [{}]',
    'rows: [',
    'rows: *x',
    '- 1',
  ])('is not there for %j', (text) => {
    expect(readForm(text)).toBeUndefined();
  });

  test('changes what it shows, and keeps comments and all other fields', () => {
    expect(withRange(TEXT, '24h')).toBe(TEXT.replace('range: 7d', 'range: 24h'));
    expect(withRange(TEXT, '')).not.toContain('range');
    expect(withParameter(TEXT, 'days', '15')).toBe(TEXT.replace('days: 14', 'days: 15'));
    expect(withPanelText(TEXT, [1, 0], { field: 'title', value: 'Six' })).toBe(TEXT.replace('"5"', '"Six"'));
    expect(withPanelText(TEXT, [0, 1], { field: 'text', value: 'Wait: "so"' })).toContain('Wait: "so"');
    expect(parse(withPanelText(TEXT, [1, 0], { field: 'title', value: '' })).rows[1].panels[0]).toEqual({
      endpoint: 'b',
    });
  });

  test('leaves an alias to the editor', () => {
    const text = 'rows:\n  - &row { panels: [{ endpoint: a }] }\n  - *row\n';
    expect(namesOf(text)).toEqual([['a'], ['a']]);
    expect(withPanelText(text, [1, 0], { field: 'title', value: 'x' })).toBe(text);
  });

  test('keeps texts beyond 16 bits beside lists', () => {
    const text = TEXT.replace('Call ops.', '🜂 [ a ] ünï').replace('[n]', "['🜂']");
    expect(withRange(text, '24h')).toBe(text.replace('range: 7d', 'range: 24h'));
  });

  test('adds parameters and removes them, with the map that would be empty', () => {
    const added = withPanelParameter(TEXT, [1, 0], 'project', '007');
    expect(rowsOf(added)[1]).toEqual([{ endpoint: 'b', title: '5', parameters: { project: '007' } }]);
    expect(rowsOf(withPanelParameter(added, [1, 0], 'project', undefined))).toEqual(rowsOf(TEXT));
    const one = withParameter(TEXT, 'days', undefined);
    expect(formOf(one).parameters).toEqual({ project: 'aurora' });
    const none = withParameter(one, 'project', undefined);
    expect(none).not.toContain('parameters:\n');
    expect(formOf(withParameter(none, 'project', '')).parameters).toEqual({ project: '' });
    expect(
      formOf(withParameter(TEXT.replace(/parameters:\n.*\n.*\n/, 'parameters:\n'), 'x', '1')).parameters,
    ).toEqual({
      x: '1',
    });
  });

  test('of another endpoint or kind drops what is said about the one before', () => {
    expect(rowsOf(withEndpoint(TEXT, [0, 0], 'b', ['x']))[0]?.[0]).toEqual({
      ...{ endpoint: 'b', show: 'number', parameters: { x: 'y' } },
    });
    expect(rowsOf(withShow(TEXT, [0, 0], 'text', 'b'))[0]?.[0]).toEqual({ show: 'text', text: 'Text' });
    expect(rowsOf(withShow(TEXT, [0, 1], '', 'b'))[0]?.[1]).toEqual({ endpoint: 'b' });
    expect(rowsOf(withShow(TEXT, [1, 0], 'table', 'c'))[1]?.[0]).toEqual({
      endpoint: 'b',
      title: '5',
      show: 'table',
    });
  });

  test('adds a panel to a row or a new row, and removes a row with its last panel', () => {
    expect(namesOf(withPanel(TEXT, [0, 1], 'c'))).toEqual([['a', 'c', 'Call ops.'], ['b']]);
    expect(namesOf(withPanel(TEXT, [2, 0], 'c'))).toEqual([['a', 'Call ops.'], ['b'], ['c']]);
    expect(namesOf(withoutPanel(TEXT, [0, 0]))).toEqual([['Call ops.'], ['b']]);
    expect(namesOf(withoutPanel(TEXT, [1, 0]))).toEqual([['a', 'Call ops.']]);
  });

  test('moves a panel within its row, then into the row beside', () => {
    const move = (text: string, at: Place, by: -1 | 1) => {
      const to = findMove(formOf(text), at, by);
      return to && withMove(text, at, to);
    };
    const down = move(TEXT, [0, 0], 1);
    expect([namesOf(down?.text ?? ''), down?.at]).toEqual([
      [['Call ops.', 'a'], ['b']],
      [0, 1],
    ]);
    const over = move(down?.text ?? '', [0, 1], 1);
    expect([namesOf(over?.text ?? ''), over?.at]).toEqual([
      [['Call ops.'], ['a', 'b']],
      [1, 0],
    ]);
    const gone = move(over?.text ?? '', [0, 0], 1);
    expect([namesOf(gone?.text ?? ''), gone?.at]).toEqual([[['Call ops.', 'a', 'b']], [0, 0]]);
    const up = move(TEXT, [1, 0], -1);
    expect([namesOf(up?.text ?? ''), up?.at]).toEqual([[['a', 'Call ops.', 'b']], [0, 2]]);
    expect(move(TEXT, [0, 0], -1)).toBeUndefined();
    expect(move(TEXT, [1, 0], 1)).toBeUndefined();
    const full = Array.from({ length: 4 }, () => 0).reduce((text) => withPanel(text, [0, 0], 'c'), TEXT);
    expect(move(full, [1, 0], -1)).toBeUndefined();
  });

  test.each(['service', 'functions', 'gateway'])(
    'leaves the rest of the shipped %s as it is',
    async (name) => {
      const text = await readFile(`dashboards/${name}.yaml`, 'utf8');
      expect(parse(withRange(text, '3h'))).toEqual({ ...parse(text), range: '3h' });
      expect(withRange(text, '3h')).toContain('# yaml-language-server');
    },
  );
});
