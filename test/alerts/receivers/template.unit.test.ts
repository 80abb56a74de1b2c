import { expect, test } from 'vitest';
import {
  findTemplateFaults,
  renderText,
  TEMPLATE_CHARS_MAX,
  templateVariables,
} from '../../../src/alerts/receivers/template.ts';

const ROW = { path: '/rest/v1/orders', failures: 12, region: null };

test('writes the columns of a row into the text', () => {
  expect(renderText('{{ path }} failed {{ failures }} times{{ region }}', ROW)).toBe(
    '/rest/v1/orders failed 12 times',
  );
  expect(renderText('{% if failures > 10 %}many{% else %}few{% endif %}', ROW)).toBe('many');
  expect(renderText('{{ failures | divided_by: 5.0 }} {{ path | upcase }}', ROW)).toBe('2.4 /REST/V1/ORDERS');
});

test('names each unknown variable with its line and the one that is meant', () => {
  expect(findTemplateFaults('{{ path }}\n{{ failure }} {{ zebra }}', ['path', 'failures'])).toEqual([
    { line: 2, message: 'unknown variable "failure"; did you mean failures?' },
    { line: 2, message: 'unknown variable "zebra"; known here: path, failures' },
  ]);
  const assigned = '{% assign a = path %}{% for i in list %}{{ i.x }}{{ a }}{% endfor %}{{ b.c }}';
  expect(templateVariables(assigned).toSorted()).toEqual(['b', 'list', 'path']);
});

test.each([
  ['{{ a', '{{ a is not closed; end it with }}'],
  ['{% if a %}x', '{% if a %} is not closed; add {% endif %}'],
  ['{% include "/etc/passwd" %}', /^unknown tag "include" here; known: if, unless, /],
  ['{{ a | date }}', /^unknown filter "date"; known: append, /],
  ['{{ }}', /^is not a Liquid template: .*such as \{\{ path \}\} failed/],
])('names the line of a fault and what would be right: %s', (template, message) => {
  const [fault, ...others] = findTemplateFaults(`first\nsecond ${template}`, ['a', 'b']);
  expect([fault?.line, others]).toEqual([2, []]);
  expect(fault?.message).toMatch(message);
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
