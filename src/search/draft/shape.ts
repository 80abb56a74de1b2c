import type { ChartFields } from '../../definitions/chart.ts';
import type { ResultColumn } from '../../definitions/endpoint.ts';
import type { SearchField } from '../tree.ts';
import type { Names } from './names.ts';

/** A result of the SELECT of one source. */
export interface Item {
  readonly name: string;
  /** Returns SQL of the same type for every source. */
  readonly write: (names: Names) => string;
}

/** What a draft returns of the events, and how. */
export interface DraftShape {
  /** The end of a name, such as `p95-of-duration-by-path`. */
  readonly title: string;
  readonly description: string;
  /** Results of the SELECTs of the sources, together called `events`. */
  readonly items: readonly Item[];
  /** Members of WITH after `events`. */
  readonly members?: readonly string[];
  /** The last SELECT. */
  readonly select: string;
  readonly columns: readonly ResultColumn[];
  readonly maxRows: number;
  readonly chart: ChartFields;
  /** Default of `@step`, seconds; `undefined`: the rows have no time buckets. */
  readonly stepSeconds?: number;
  /** Whether its numbers depend on the order in which the engine adds. */
  readonly isRounded?: boolean;
}

/** Returns a name for the column of a field's values. @param column name of its typed column */
export function nameOf(field: SearchField, column: string | undefined, taken: readonly string[]): string {
  const words = (column ?? field.join('_')).replaceAll(/[^A-Za-z0-9]+/g, '_').replaceAll(/^_+|_+$/g, '');
  const name = (/^[A-Za-z]/.test(words) ? words : `field_${words}`).slice(0, NAME_CHARS_MAX);
  return taken.includes(name) ? `${name}_value` : name;
}

const NAME_CHARS_MAX = 50;

/** Returns the words of a text as a part of an endpoint's name. */
export function slug(text: string): string {
  return text
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '-')
    .slice(0, SLUG_CHARS_MAX)
    .replaceAll(/^-+|-+$/g, '');
}

const SLUG_CHARS_MAX = 60;
