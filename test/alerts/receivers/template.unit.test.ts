import fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  findTemplateFaults,
  renderText,
  TEMPLATE_CHARS_MAX,
  TemplateError,
  templateVariables,
} from '../../../src/alerts/receivers/template.ts';

const ROW = { path: '/rest/v1/orders', failures: 12, region: null };

test('writes the columns of a row into the text', () => {
  expect(renderText('{{ path }} failed {{ failures }} times{{ region }}', ROW)).toBe(
    '/rest/v1/orders failed 12 times',
  );
  expect(renderText('{% if failures > 10 %}many{% else %}few{% endif %}', ROW)).toBe('many');
  expect(renderText('{{ failures | divided_by: 5.0 | round: 1 }} {{ path | upcase }}', ROW)).toBe(
    '2.4 /REST/V1/ORDERS',
  );
  expect(renderText('{% for one in list %}{{ one.path }}, {% endfor %}', { list: [ROW, ROW] })).toBe(
    '/rest/v1/orders, /rest/v1/orders, ',
  );
  expect(renderText('{{ one }} {{ one.path }}', { one: { path: 1 } })).toBe('{"path":1} 1');
});

test('names the variables that a template reads, not those that it assigns', () => {
  const template = '{% assign a = path %}{% for i in list %}{{ i.x }}{{ a }}{% endfor %}{{ b.c }}';
  expect(templateVariables(template).toSorted()).toEqual(['b', 'list', 'path']);
});

test('names each unknown variable with its line and the one that is meant', () => {
  expect(findTemplateFaults('{{ path }}\n{{ failure }} {{ zebra }}', ['path', 'failures'])).toEqual([
    { line: 2, message: 'unknown variable "failure"; did you mean failures?' },
    { line: 2, message: 'unknown variable "zebra"; known here: path, failures' },
  ]);
  expect(findTemplateFaults('{{ path }}', ['path'])).toEqual([]);
});

test.each([
  ['{{ a', '{{ a is not closed; end it with }}'],
  ['{% if a', '{% if a is not closed; end it with %}'],
  ['{% if a %}x', '{% if a %} is not closed; add {% endif %}'],
  ['{% foo %}', /^unknown tag "foo" here; known: if, unless, /],
  ['{% include "/etc/passwd" %}', /^unknown tag "include" here/],
  ['{% render "a" %}', /^unknown tag "render" here/],
  ['{% layout "a" %}', /^unknown tag "layout" here/],
  ['{{ a | date }}', /^unknown filter "date"; known: append, /],
  ['{% for a of b %}{% endfor %}', '{% for a of b %} is not a loop; write {% for item in items %}'],
  ['{% "a" %}', 'a tag begins with its name, such as {% if failures > 10 %}'],
  ['{{ }}', /^is not a Liquid template: .*such as \{\{ path \}\} failed/],
])('names the line of a fault and what would be right: %s', (template, message) => {
  const [fault, ...others] = findTemplateFaults(`first\nsecond ${template}`, ['a', 'b']);
  expect(others).toEqual([]);
  expect(fault?.line).toBe(2);
  expect(fault?.message).toMatch(message);
});

test('rejects a template that is too long, and says so', () => {
  expect(() => templateVariables('a'.repeat(TEMPLATE_CHARS_MAX + 1))).toThrow(
    'has 4001 characters; a text has at most 4000',
  );
});

test.each([
  '{% for i in (1..1000000000) %}{% endfor %}',
  '{% for i in (1..5000) %}{% for j in (1..5000) %}{% endfor %}{% endfor %}',
  '{% for i in list %}{% for j in list %}{% for k in list %}{{ i }}{% endfor %}{% endfor %}{% endfor %}',
  `{% assign a = "${'x'.repeat(900)}" %}${'{% assign a = a | append: a %}'.repeat(60)}{{ a }}`,
  `{% assign a = "${'x'.repeat(900)}" %}${'{% assign a = a | replace: "x", a %}'.repeat(9)}{{ a }}`,
])('stops a text that does too much work: %s', (template) => {
  expect(() => renderText(template, { list: Array.from({ length: 100 }, (_, i) => i) })).toThrow(
    'does too much work; loop over fewer items, or shorten the texts',
  );
});

test('cuts values and texts, never within a sign', () => {
  const label = '😀'.repeat(32 * 1024);
  const text = renderText('{{ a }}', { a: label });
  expect(text.length).toBeLessThanOrEqual(1_000);
  expect(text.endsWith('😀…')).toBe(true);
  const all = renderText('{{ a }}'.repeat(10), { a: `x${label}` });
  expect(all.length).toBeLessThanOrEqual(4_000);
  expect(all.isWellFormed()).toBe(true);
});

test('reads only what it is given: no inherited member, no process', () => {
  const template = '{{ a.constructor }}{{ constructor }}{{ a.__proto__ }}{{ process }}{{ toString }}';
  expect(renderText(template, { a: {} })).toBe('');
});

test('a random text is rendered or rejected with a line', () => {
  const part = fc.constantFrom(
    '{{',
    '}}',
    '{%',
    '%}',
    ' a ',
    '|',
    'if',
    'for',
    ' in ',
    '"',
    '(1..9)',
    '\n',
    '-',
  );
  fc.assert(
    fc.property(fc.array(part, { maxLength: 30 }), (parts) => {
      const template = parts.join('');
      try {
        expect(typeof renderText(template, { a: 'x' })).toBe('string');
      } catch (error) {
        expect(error).toBeInstanceOf(TemplateError);
        expect((error as TemplateError).line).toBeLessThanOrEqual(template.split('\n').length);
      }
    }),
  );
});
