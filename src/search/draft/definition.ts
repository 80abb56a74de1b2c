import { Document, isMap } from 'yaml';
import type { DraftParameters } from './parameters.ts';
import type { DraftShape } from './shape.ts';

interface DraftDefinition {
  readonly name: string;
  readonly description: string;
  readonly shape: DraftShape;
  readonly parameters: DraftParameters;
}

export const LINE_CHARS_MAX = 110;

/** Writes endpoint.yaml without `id`, which a save adds. */
export function writeDefinition({ name, description, shape, parameters }: DraftDefinition): string {
  const { maxRows, columns, chart } = shape;
  const document = new Document({
    name,
    description,
    max_rows: maxRows,
    caching: 'disabled',
    parameters,
    columns: Object.fromEntries(columns.map(({ name: column, ...fields }) => [column, fields])),
    chart,
  });
  for (const field of ['parameters', 'columns']) {
    const map = document.get(field);
    if (isMap(map)) for (const { value } of map.items) if (isMap(value)) value.flow = true;
  }
  return document.toString({ lineWidth: LINE_CHARS_MAX });
}
