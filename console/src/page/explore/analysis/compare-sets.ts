import { joinSearches } from '../../../format/search-text.ts';
import { formatIso } from '../../../format/time.ts';
import { tokenize, unquoteValue } from '../query-text.ts';

export type CompareKind = 'errors' | 'search' | 'range';

/** Two sets of events, and what each is called. */
export interface CompareSets {
  readonly kind: CompareKind;
  readonly q: string;
  /** A search; undefined: all events that `q` does not find. */
  readonly against: string | undefined;
  readonly label: string;
  readonly otherLabel: string;
}

interface Asked {
  readonly q: string;
  /** `<from>/<until>`, ISO 8601: a range that is marked in the chart; empty for none. */
  readonly mark: string;
}

const ERRORS = 'level:>=error';

/** The sets that a search can be divided into; the first is the default. */
export function listKinds({ q, mark }: Asked): readonly CompareKind[] {
  const isOfLevel = namesField(q, 'level');
  return [
    ...(parseMark(mark) === undefined ? [] : (['range'] as const)),
    ...(isOfLevel ? [] : (['errors'] as const)),
    ...(q.trim() === '' ? [] : (['search'] as const)),
  ];
}

/** Divides the events of a search, by the kind that is asked for if there is one. */
export function divide(asked: Asked, kind: string): CompareSets | undefined {
  const kinds = listKinds(asked);
  const chosen = kinds.find((one) => one === kind) ?? kinds[0];
  const { q } = asked;
  const mark = parseMark(asked.mark);
  if (chosen === 'range' && mark !== undefined) {
    const within = `timestamp:>=${mark.from} timestamp:<${mark.until}`;
    const outside = `timestamp:<${mark.from} or timestamp:>=${mark.until}`;
    return {
      ...{ kind: chosen, q: joinSearches([q, within]), against: joinSearches([q, outside]) },
      ...{ label: 'the marked range', otherLabel: 'the rest' },
    };
  }
  if (chosen === 'errors')
    return {
      ...{ kind: chosen, q: joinSearches([q, ERRORS]), against: joinSearches([q, `-${ERRORS}`]) },
      ...{ label: 'errors', otherLabel: 'the rest' },
    };
  return chosen === undefined
    ? undefined
    : { kind: 'search', q, against: undefined, label: 'what is searched for', otherLabel: 'all else' };
}

export interface MarkedRange {
  readonly from: string;
  readonly until: string;
  /** ms since the epoch. */
  readonly fromMs: number;
  readonly untilMs: number;
}

/** Reads a marked range of an address; undefined if the text is not one. */
export function parseMark(text: string): MarkedRange | undefined {
  const [from = '', until = ''] = text.split('/');
  const [fromMs, untilMs] = [Date.parse(from), Date.parse(until)];
  return fromMs < untilMs
    ? { from: formatIso(fromMs), until: formatIso(untilMs), fromMs, untilMs }
    : undefined;
}

function namesField(q: string, name: string): boolean {
  return tokenize(q).some(
    ({ kind, from, until }) => kind === 'field' && unquoteValue(q.slice(from, until - 1)) === name,
  );
}
