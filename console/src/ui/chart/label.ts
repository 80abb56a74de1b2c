import type { ChartView } from '../../../../src/management/view.ts';
import type { Columns } from './draw.ts';

const TITLE_CHARS_MAX = 60;

/** The title of a chart: as it says; else what its column's description says, else the words that its columns share. */
export function titleOf(
  chart: Pick<ChartView, 'title' | 'values' | 'series' | 'unit'>,
  columns: Columns,
): string {
  if (chart.title !== null) return chart.title;
  const [name = '', ...others] = chart.values;
  const by = chart.series === null ? '' : ` by ${wordsOf(chart.series).join(' ')}`;
  const shared = sharedWords(chart.values);
  if (others.length > 0) return sentence(shared.length > 0 ? shared : listNames(chart.values));
  const description = columns.find((column) => column.name === name)?.description ?? '';
  const first = (/^[^.]*/.exec(description)?.[0] ?? '').trim();
  const isTitle = first !== '' && first.length <= TITLE_CHARS_MAX && chart.series === null;
  return isTitle ? first : `${sentence(wordsOf(name))}${by}`;
}

/** The names of columns as labels: without the words that begin or end all of them. */
export function labelsOf(names: readonly string[]): string[] {
  const words = names.map(wordsOf);
  const [lead, tail] = [countShared(words), countShared(words.map((one) => one.toReversed()))];
  const isShort = names.length > 1 && words.every((one) => one.length > lead + tail);
  return words.map((one) => sentence(isShort ? one.slice(lead, one.length - tail) : one));
}

function sharedWords(names: readonly string[]): string[] {
  const words = names.map(wordsOf);
  const [lead, tail] = [countShared(words), countShared(words.map((one) => one.toReversed()))];
  const [first = []] = words;
  return words.every((one) => one.length > lead + tail)
    ? [...first.slice(0, lead), ...first.slice(first.length - tail)]
    : [];
}

/** How many first words are the same in all lists. */
function countShared([first = [], ...others]: readonly (readonly string[])[]): number {
  const differs = first.findIndex((word, i) => others.some((other) => other[i] !== word));
  return differs === -1 ? first.length : differs;
}

function listNames(names: readonly string[]): string[] {
  const [first = '', second = '', ...more] = names.map((name) => wordsOf(name).join(' '));
  return [more.length > 0 ? `${first}, ${second} and ${more.length} more` : `${first} and ${second}`];
}

function wordsOf(name: string): string[] {
  return name.split('_').filter((word) => word !== '');
}

/** `p95` stays as it is. */
function sentence(words: readonly string[]): string {
  const text = words.join(' ');
  return /^[a-z]+\d/.test(text) ? text : text.charAt(0).toUpperCase() + text.slice(1);
}
