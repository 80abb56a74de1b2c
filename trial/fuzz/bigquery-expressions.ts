import type { Random } from '../../src/lib/random.ts';

type Kind = 'text' | 'number' | 'condition';

const KINDS: readonly Kind[] = ['text', 'number', 'condition'];

/** Forms of a text, a number and a condition; `{text}`, `{number}` and `{condition}` stand for others. */
const FORMS: Readonly<Record<Kind, readonly string[]>> = {
  text: [
    "({text} || {text} || 'x')",
    "coalesce({text}, {text}, 'x')",
    "greatest({text}, {text}, 'x')",
    'case when {condition} then {text} else {text} end',
    '(select max({text}) as x from edge_logs cross join unnest(metadata) as m)',
    'json_query({text}, "$.a[0][1]")',
    'json_value({text}, "$.a")',
    'cast({number} as string)',
    '({number})::text',
    'trim({text})',
    "replace({text}, 'a', {text})",
    'm.a',
    "'x'",
  ],
  number: [
    '({number} + {number} - 1)',
    '({number} / {number} * 2)',
    '(- {number})',
    'if({condition}, {number}, 1)',
    'safe_cast({text} as int64)',
    'safe_cast({text} as float64)',
    'round({number}, 2)',
    'length({text})',
    'extract(hour from timestamp_add(timestamp, interval {number} hour))',
    'm.b',
    '1',
  ],
  condition: [
    '({condition} and {condition} or {condition})',
    '(not {condition})',
    '({number} = {number})',
    '({number} in ({number}, 1))',
    '({text} in (select id from edge_logs where id = {text}))',
    '({number} between 1 and {number})',
    '({text} is null)',
    "({text} like '%x')",
    "starts_with({text}, 'x')",
    'm.c',
    'true',
  ],
};

/** An expression with up to so many forms in each other, and values in the places that are left. */
export function randomExpression(random: Random, forms: number): string {
  let left = forms;
  let text: string = random.pick(FORMS[random.pick(KINDS)]);
  for (;;) {
    const places = [...text.matchAll(/\{(\w+)\}/g)];
    const place = random.whole(0, 1) === 0 ? places[0] : places.at(-1);
    const name = KINDS.find((kind) => kind === place?.[1]);
    if (place === undefined || name === undefined) return text;
    const form = left-- > 0 ? random.pick(FORMS[name]) : (FORMS[name].at(-1) ?? '');
    text = text.slice(0, place.index) + form + text.slice(place.index + place[0].length);
  }
}
