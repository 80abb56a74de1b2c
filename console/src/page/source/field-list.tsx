import type { SourceView } from '../../../../src/management/view.ts';
import { PanelTable } from '../../ui/table/panel-table.tsx';

const HEADS = [{ name: 'Field' }, { name: 'Type' }, { name: 'Taken from' }];

/** The columns of every table (docs/sources.md). */
const COMMON: readonly Omit<SourceView['columns'][number], 'other_paths'>[] = [
  { name: 'id', type: 'string', path: ['id'], description: 'as sent, otherwise a UUIDv7' },
  {
    name: 'timestamp',
    type: 'timestamp',
    path: ['timestamp'],
    description: 'time of the event, UTC, in microseconds',
  },
  { name: 'project', type: 'string', path: [], description: 'project of the event' },
  { name: 'event_message', type: 'string', path: ['event_message'], description: 'the text' },
  { name: 'metadata', type: 'json', path: ['metadata'], description: 'the JSON value as sent' },
  { name: 'attributes', type: 'json', path: [], description: 'other members of the event' },
];

/** The columns of a source's table: its own, then the common ones. */
export function Fields({ source }: { readonly source: SourceView }) {
  return (
    <PanelTable title="Fields" heads={HEADS}>
      {source.columns.map((column) => (
        <FieldLine key={column.name} column={column} />
      ))}
      <tr className="field-part">
        <th scope="rowgroup" colSpan={HEADS.length}>
          Common to all sources
        </th>
      </tr>
      {COMMON.map((column) => (
        <FieldLine key={column.name} column={{ ...column, other_paths: [] }} />
      ))}
    </PanelTable>
  );
}

function FieldLine({ column }: { readonly column: SourceView['columns'][number] }) {
  const { name, type, path, other_paths: others, description } = column;
  return (
    <tr className="field-line">
      <th scope="row">
        <div className="panel-table-name">
          <code>{name}</code>
          <span className="small muted">{description}</span>
        </div>
      </th>
      <td data-label="Type">{type}</td>
      <td data-label="Taken from">
        {path.length === 0 ? (
          <span className="muted">–</span>
        ) : (
          <code className="small">{[path, ...others].map(writePath).join(', ')}</code>
        )}
      </td>
    </tr>
  );
}

/** Writes paths as in a source's file; after the first one come its substitutes. */
function writePath(path: readonly string[]): string {
  return path.some((name) => name.includes('.')) ? `[${path.join(', ')}]` : path.join('.');
}
