import { expect, test } from 'vitest';
import { findTextFaults, renderText } from '../../src/alerts/text.ts';

test('writes the columns of a row into the text, whatever their names', () => {
  const row = { path: '/rest/v1/orders', failures: 12, region: null, 'p95 | ms': 3.5, constructor: 'own' };
  expect(renderText('{{ path }} failed {{failures}} times{{ region }}', row)).toBe(
    '/rest/v1/orders failed 12 times',
  );
  expect(renderText('{{ p95 | ms }} {{ constructor }}{{ toString }}{{ __proto__ }} }} { {', row)).toBe(
    '3.5 own }} { {',
  );
});

test('no value is read as a text', () => {
  expect(renderText('{{ a }}{{ b }}', { a: '{{ b }} $& $1', b: '{{ a }}' })).toBe('{{ b }} $& $1{{ a }}');
});

test('finds what is not a name of a column', () => {
  expect(findTextFaults('{{ a }} { "a": "{b}" } %} }}', ['a'])).toEqual([]);
  const faults = findTextFaults('{{ a.b }} {% raw %} {{ a.b }} {{ a', ['a', 'count']).join('\n');
  expect(faults).toBe(`has "{{ a.b }}"; in braces only a name is allowed: {{ a }}, {{ count }}
has "{% raw %}  {{ a"; in braces only a name is allowed: {{ a }}, {{ count }}`);
});

test('bounds values and texts, and never cuts within a sign', () => {
  const label = '😀'.repeat(32 * 1024);
  const text = renderText('{{ a }}', { a: label });
  expect(text.length).toBeLessThanOrEqual(1_000);
  expect(text.endsWith('😀…')).toBe(true);
  const all = renderText('{{ a }}'.repeat(10), { a: `x${label}` });
  expect([all.length <= 4_000, all.isWellFormed()]).toEqual([true, true]);
});
