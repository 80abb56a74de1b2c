import type { Source, SourceColumn } from '../../definitions/source.ts';
import { findColumn, nameColumn, pathOf } from '../field.ts';
import { printField, type SearchField } from '../tree.ts';

/**
 * Lists the names of fields, and of those that are computed from them or that they are computed from: the level of an event and the column
 * with its status, a column that says what another contains. To explain one by the other would explain nothing.
 */
export function listRelated(sources: readonly Source[], fields: readonly SearchField[]): string[] {
  const found = new Set<string>();
  for (const field of fields) {
    found.add(printField(field));
    found.add(printField(pathOf(field)));
    for (const source of sources) for (const name of relatedIn(source, field)) found.add(name);
  }
  return [...found];
}

function* relatedIn(source: Source, field: SearchField): Generator<string> {
  const { level, columns } = source;
  const ofLevel = columns.filter(({ name }) => name === level?.column || name === level?.status);
  const isLevel = field.length === 1 && field[0] === 'level';
  const column = isLevel ? undefined : findColumn(source, field);
  const own = isLevel ? ofLevel : column === undefined ? [] : [column];
  for (const one of own) {
    yield nameColumn(one);
    for (const other of columns) if (areRelated(one, other)) yield nameColumn(other);
    if (ofLevel.includes(one)) yield 'level';
  }
}

function areRelated(one: SourceColumn, other: SourceColumn): boolean {
  const isFrom = (a: SourceColumn, b: SourceColumn) =>
    a.contains?.column === b.name || a.otherwise?.includes(b.name) === true;
  return isFrom(one, other) || isFrom(other, one);
}
