import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import {
  readForm,
  withPanelText,
  withParameter,
  withRange,
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
});
