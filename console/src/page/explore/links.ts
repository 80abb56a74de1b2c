import type { SearchSource } from '../../../../src/management/view.ts';
import { fillLink } from '../../format/link.ts';
import { formatValue, type Line, valueAt } from '../../ui/lines/line.ts';
import type { LinesLink } from '../../ui/lines/record.tsx';

/** The links that a line's source has for a value. */
export function createLinksOf(sources: readonly SearchSource[]) {
  const linksBySource = new Map(sources.map(({ name, links }) => [name, links]));
  return (line: Line, field: string): readonly LinesLink[] =>
    (linksBySource.get(line.source) ?? [])
      .filter((link) => toPath(link.field) === toPath(field))
      .flatMap(({ label, url }) => {
        const filled = fillLink(url, (name) => textOf(line, name === 'value' ? field : name));
        return filled === undefined ? [] : [{ label, url: filled }];
      });
}

/** A search may name a path of the metadata with `metadata.` before it, or without. */
function toPath(field: string): string {
  return field.replace(/^metadata\./, '');
}

function textOf(line: Line, field: string): string {
  const value = valueAt(line, field);
  return value === null || value === undefined ? '' : formatValue(value);
}
