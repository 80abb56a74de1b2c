import { formatCount } from '../../format/number.ts';
import { formatTermValue } from '../../format/search-text.ts';
import { isClosed, type Token, tokenize, unquoteValue } from './query-text.ts';

export interface FieldValue {
  readonly value: string;
  readonly count: number;
}

/** The query for the most frequent values of a field, as a search writes its name. */
export type ValuesOf = (field: string) => {
  readonly queryKey: readonly unknown[];
  readonly queryFn: (context: { readonly signal: AbortSignal }) => Promise<readonly FieldValue[]>;
};

export interface QueryFieldName {
  /** As a search writes it: `request.path`. */
  readonly name: string;
  readonly type: string;
  readonly description?: string;
}

/** What is typed at the caret. A suggestion replaces `from` to `until`, in UTF-16 units. */
export interface Place {
  readonly kind: 'term' | 'value';
  readonly from: number;
  readonly until: number;
  /** The text before the caret, without quotes. */
  readonly typed: string;
  /** For a value: its field without the colon, and its operator. */
  readonly field: string;
  readonly operator: string;
  /** For a term: whether another precedes it, so that `and` and `or` make sense. */
  readonly isAfterTerm: boolean;
}

export interface Suggestion {
  readonly kind: 'field' | 'keyword' | 'value' | 'operator';
  readonly label: string;
  readonly detail: string;
  readonly insert: string;
}

/** Returns the token at the caret; `undefined` within a phrase. */
export function findPlace(text: string, caret: number): Place | undefined {
  const tokens = tokenize(text);
  const at = tokens.findIndex(({ from, until }) => from < caret && caret <= until);
  const token = tokens[at];
  if (token?.kind === 'phrase') return undefined;
  const fieldAt = findField(tokens, at);
  const field = tokens[fieldAt];
  if (field !== undefined && caret >= field.until) return placeValue(text, caret, tokens.slice(fieldAt));
  const isTyped =
    token?.kind === 'word' ||
    token?.kind === 'field' ||
    (token?.kind === 'keyword' && text[token.from] !== '-');
  const { from, until } = isTyped ? token : { from: caret, until: caret };
  const before = tokens.findLast((one) => one.until <= from && one.kind !== 'space');
  return {
    kind: 'term',
    from,
    until,
    typed: text.slice(from, caret),
    field: '',
    operator: '',
    isAfterTerm:
      before !== undefined &&
      (['word', 'phrase', 'value'].includes(before.kind) || text[before.from] === ')'),
  };
}

/** The field that a token belongs to: itself, or the one before its operator or value. */
function findField(tokens: readonly Token[], at: number): number {
  const isPart = (kind: Token['kind'] | undefined) => kind === 'operator' || kind === 'value';
  let first = at;
  while (isPart(tokens[first]?.kind)) first--;
  return tokens[first]?.kind === 'field' ? first : -1;
}

/** @param tokens from the field on */
function placeValue(text: string, caret: number, tokens: readonly Token[]): Place | undefined {
  const [field, second, third] = tokens;
  if (field === undefined) return undefined;
  const operator = second?.kind === 'operator' ? second : undefined;
  const next = operator === undefined ? second : third;
  const value = next?.kind === 'value' ? next : undefined;
  const isBefore = operator !== undefined && caret < operator.until;
  const from = isBefore ? field.until : (operator ?? field).until;
  const end = (value ?? operator ?? field).until;
  const typed = isBefore ? '' : text.slice(from, caret);
  return {
    kind: 'value',
    from,
    // Without its closing quote a value takes the rest of the text, which may be other terms.
    until: isClosed(text.slice(from, end)) ? end : Math.max(caret, from),
    typed: unquoteValue(typed),
    field: text.slice(field.from, field.until - 1),
    operator: operator === undefined || isBefore ? '' : text.slice(operator.from, operator.until),
    isAfterTerm: false,
  };
}

interface Offer {
  readonly text: string;
  readonly place: Place;
  readonly fields: readonly QueryFieldName[];
  readonly values: readonly FieldValue[];
  /** Whether the user asked for the list, which then has everything that may stand here. */
  readonly isAsked: boolean;
}

const SUGGESTIONS_MAX = 100;

/** Lists the texts that may be inserted at a place, the likeliest first. */
export function suggest(offer: Offer): readonly Suggestion[] {
  const { text, place } = offer;
  const found = place.kind === 'value' ? suggestValues(offer) : suggestTerms(offer);
  const present = text.slice(place.from, place.until);
  return found.filter(({ insert }) => insert.trimEnd() !== present).slice(0, SUGGESTIONS_MAX);
}

function suggestTerms({ text, place, fields, isAsked }: Offer): readonly Suggestion[] {
  if (place.typed === '' && !isAsked) return [];
  const keywords = text.trim() === '' ? [] : suggestKeywords(place);
  return rank([...fields.map(toFieldSuggestion), ...keywords], place.typed);
}

const toFieldSuggestion = ({ name, type, description = '' }: QueryFieldName): Suggestion => ({
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

function suggestKeywords({ typed, isAfterTerm }: Place): readonly Suggestion[] {
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

// Of these a range is more likely than one value.
const RANGED_TYPES: readonly unknown[] = ['integer', 'number', 'timestamp'];

function suggestValues({ place, fields, values }: Offer): readonly Suggestion[] {
  const { typed, operator } = place;
  const found = values
    .filter(({ value }) => !/[\r\n]/.test(value)) // a field of one line cannot hold them
    .map(({ value, count }): Suggestion => {
      return {
        kind: 'value',
        label: value,
        detail: formatCount(count),
        insert: `${formatTermValue(value)} `,
      };
    });
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
