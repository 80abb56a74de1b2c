import { expect, test } from 'vitest';
import { renderText, TEMPLATE_CHARS_MAX, templateVariables } from '../../../src/alerts/receivers/template.ts';

const ROW = { path: '/rest/v1/orders', failures: 12, region: null };

test('writes the columns of a row into the text', () => {
  expect(renderText('{{ path }} failed {{ failures }} times{{ region }}', ROW)).toBe(
    '/rest/v1/orders failed 12 times',
  );
  expect(renderText('{% if failures > 10 %}many{% else %}few{% endif %}', ROW)).toBe('many');
  expect(renderText('{{ failures | divided_by: 5.0 }} {{ path | upcase }}', ROW)).toBe('2.4 /REST/V1/ORDERS');
});

test.each([
  '{% for i in (1..5000) %}{% for j in (1..5000) %}{% endfor %}{% endfor %}',
  `{% assign a = "${'x'.repeat(900)}" %}${'{% assign a = a | append: a %}'.repeat(60)}{{ a }}`,
])('stops a text that does too much work: %s', (template) => {
  expect(() => renderText(template, {})).toThrow('does too much work');
});

test('bounds templates, values and texts, and never cuts within a sign', () => {
  const message = 'has 4001 characters; a text has at most 4000';
  expect(() => templateVariables('a'.repeat(TEMPLATE_CHARS_MAX + 1))).toThrow(message);
  const label = '😀'.repeat(32 * 1024);
  const text = renderText('{{ a }}', { a: label });
  expect(text.length).toBeLessThanOrEqual(1_000);
  expect(text.endsWith('😀…')).toBe(true);
  const all = renderText('{{ a }}'.repeat(10), { a: `x${label}` });
  expect([all.length <= 4_000, all.isWellFormed()]).toEqual([true, true]);
});

test('reads only what it is given: no inherited member, no process', () => {
  const template = '{{ a.constructor }}{{ constructor }}{{ a.__proto__ }}{{ process }}{{ toString }}';
  expect(renderText(template, { a: {} })).toBe('');
});
