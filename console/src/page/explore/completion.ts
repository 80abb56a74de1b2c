import { formatTermValue } from '../../format/search-text.ts';
import { formatCount } from '../../format/show.ts';
import type { FieldName, FieldValue } from './exploring.ts';

const NAME = String.raw`(?:"(?:[^"\\]|\\[\s\S])*"|[^\s()":.*]+)`;
// Up to the closing quote, or to the end of the text without one.
const QUOTED = String.raw`"(?:[^"\\]|\\[\s\S])*"?`;

/** The minus signs and terms of a search, right or wrong, as docs/search.md defines them; spaces and parentheses are between them. */
export const TERM = new RegExp(
  String.raw`-|(?<field>${NAME}(?:\.${NAME})*):(?<operator>[<>]=?)?(?<value>${QUOTED}|[^\s()"]+)?|` +
    String.raw`(?<phrase>${QUOTED})|(?<word>[^\s()"]+)`,
  'g',
);

/** What is typed at the caret. A suggestion replaces `from` to `until`, in UTF-16 units. */
export interface Place {
  readonly from: number;
  readonly until: number;
  /** The text before the caret, without quotes. */
  readonly typed: string;
  /** For a value: its field without the colon, and its operator. */
  readonly field?: string;
  readonly operator?: string;
}

export interface Suggestion {
  readonly kind: 'field' | 'keyword' | 'value' | 'operator';
  readonly label: string;
  readonly detail: string;
  readonly insert: string;
}

/** Returns the term at the caret, or its value; `undefined` within a phrase. */
export function findPlace(text: string, caret: number): Place | undefined {
  const term = [...text.matchAll(TERM)].find(
    ({ index, 0: whole }) => index < caret && caret <= index + whole.length,
  );
  const from = term?.index ?? caret;
  const [whole = ''] = term ?? [];
  const { field, operator = '', value = '', phrase, word } = term?.groups ?? {};
  if (phrase !== undefined) return undefined;
  const valueFrom = field === undefined ? Number.POSITIVE_INFINITY : from + field.length + 1;
  if (caret < valueFrom) {
    if (field === undefined && word === undefined) return { from: caret, until: caret, typed: '' };
    return { from, until: Math.min(valueFrom, from + whole.length), typed: text.slice(from, caret) };
  }
  const isBefore = caret < valueFrom + operator.length;
  const typedFrom = isBefore ? valueFrom : valueFrom + operator.length;
  return {
    from: typedFrom,
    // Without its closing quote a value takes the rest of the text, which may be other terms.
    until: isBefore || isClosed(value) ? from + whole.length : caret,
    typed: isBefore ? '' : unquote(text.slice(typedFrom, caret)),
    ...{ field: field ?? '', operator: isBefore ? '' : operator },
  };
}

function isClosed(text: string): boolean {
  return !text.startsWith('"') || /^"(?:[^"\\]|\\[\s\S])*"$/.test(text);
}

function unquote(text: string): string {
  if (!text.startsWith('"')) return text;
  return text.slice(1, isClosed(text) ? -1 : undefined).replaceAll(/\\(["\\])/g, '$1');
}

interface Offer {
  readonly text: string;
  readonly place: Place;
  readonly fields: readonly FieldName[];
  readonly values: readonly FieldValue[];
  /** Whether the user asked for the list, which then has everything that may stand here. */
  readonly isAsked: boolean;
}

const SUGGESTIONS_MAX = 100;

/** Lists the texts that may be inserted at a place, the likeliest first. */
export function suggest(offer: Offer): readonly Suggestion[] {
  const { text, place } = offer;
  const found = place.field !== undefined ? suggestValues(offer) : suggestTerms(offer);
  const present = text.slice(place.from, place.until);
  return found.filter(({ insert }) => insert.trimEnd() !== present).slice(0, SUGGESTIONS_MAX);
}

function suggestTerms({ text, place, fields, isAsked }: Offer): readonly Suggestion[] {
  if (place.typed === '' && !isAsked) return [];
  const keywords = text.trim() === '' ? [] : suggestKeywords(text.slice(0, place.from), place.typed);
  return rank([...fields.map(toFieldSuggestion), ...keywords], place.typed);
}

const toFieldSuggestion = ({ name, type, description }: FieldName): Suggestion => ({
  kind: 'field',
  label: name,
  detail: description === '' ? type : `${type} · ${description}`,
  insert: `${name}:`,
});

const KEYWORDS = [
  ['and', 'both terms'],
  ['or', 'one of the terms'],
  ['not', 'excludes the next term'],
] as const;

/** @param before what they follow: after a term all of them make sense, elsewhere `not` */
function suggestKeywords(before: string, typed: string): readonly Suggestion[] {
  const isAfterTerm = /[^\s(:-]\s*$/.test(before) && !/(?:^|[\s()"])(?:and|or|not)\s*$/i.test(before);
  return KEYWORDS.filter(
    ([word]) => (isAfterTerm || word === 'not') && word.startsWith(typed.toLowerCase()),
  ).map(([label, detail]) => ({ kind: 'keyword', label, detail, insert: `${label} ` }));
}

const OPERATORS = [
  ['*', 'any value that is not empty'],
  ['>=', 'at least'],
  ['>', 'more than'],
  ['<=', 'at most'],
  ['<', 'less than'],
] as const;

// A search for these is more likely to have a range than one value.
const RANGED_TYPES: readonly unknown[] = ['integer', 'number', 'timestamp'];

function suggestValues({ place, fields, values }: Offer): readonly Suggestion[] {
  const { typed, operator } = place;
  const found = values
    .filter(({ value }) => !/[\r\n]/.test(value)) // a field of one line cannot hold them
    .map(
      ({ value, count }): Suggestion => ({
        ...{ kind: 'value', label: value, detail: formatCount(count) },
        insert: `${formatTermValue(value)} `,
      }),
    );
  const operators = OPERATORS.map(
    ([label, detail]): Suggestion => ({ kind: 'operator', label, detail, insert: label }),
  );
  if (typed !== '' || operator !== '') return rank(found, typed);
  const type = fields.find(({ name }) => name === place.field)?.type;
  return RANGED_TYPES.includes(type) ? [...operators, ...found] : [...found, ...operators];
}

/** Those that contain what is typed, in any letter case: first if they begin with it, next if one of their words does. */
function rank(found: readonly Suggestion[], typed: string): readonly Suggestion[] {
  const ranked = Map.groupBy(found, ({ label }) => {
    const at = label.toLowerCase().indexOf(typed.toLowerCase());
    if (at <= 0) return at === 0 ? 0 : -1;
    return /[^a-z0-9]/i.test(label[at - 1] ?? '') ? 1 : 2;
  });
  return ([0, 1, 2] as const).flatMap((group) => ranked.get(group) ?? []);
}

/** The part of a suggestion to insert before the text behind its place: one space is enough. */
export function textToInsert({ insert }: Suggestion, rest: string): string {
  return /^[\s)]/.test(rest) ? insert.trimEnd() : insert;
}
