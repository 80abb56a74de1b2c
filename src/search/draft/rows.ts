import { type PartRequest, readLimit } from '../part.ts';
import { ROW_COLUMNS, ROWS_DEFAULT } from '../plan.ts';
import { toText } from './condition.ts';
import type { Names } from './names.ts';
import type { DraftShape } from './shape.ts';

/** Plans the draft of `part=rows`: the first page. */
export function planEvents({ values }: PartRequest): DraftShape {
  const size = readLimit(values, ROWS_DEFAULT);
  const column = (name: string) => ({ name, write: (names: Names) => names.column(name) });
  return {
    title: 'newest',
    description: 'Newest events',
    items: [
      { name: 'source', write: (names) => toText(names.find(['source'])) },
      column('id'),
      { name: 'at', write: (names) => names.column('timestamp') },
      column('project'),
      { name: 'level', write: (names) => toText(names.find(['level'])) },
      column('event_message'),
      column('metadata'),
    ],
    select: `SELECT
  source,
  id,
  toUnixTimestamp64Micro(at) AS timestamp,
  project,
  level,
  event_message,
  metadata
FROM events
ORDER BY at DESC, id DESC, source DESC, project DESC
LIMIT ${size}`,
    columns: ROW_COLUMNS,
    maxRows: size,
    chart: { show: 'table' },
  };
}
