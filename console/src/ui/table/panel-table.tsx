import type { ReactNode } from 'react';
import { Button } from '../button.tsx';
import { Panel } from '../panel.tsx';
import './panel-table.css';

interface PanelTableProps {
  readonly title: string;
  readonly actions?: ReactNode;
  /** Names of the columns; numeric ones are aligned right. */
  readonly heads: readonly { readonly name: string; readonly numeric?: boolean }[];
  /** Rows; their cells have `data-label`, which narrow screens show. */
  readonly children: ReactNode;
  /** Shown below the last row. */
  readonly below?: ReactNode;
}

/** A short table in its own panel. */
export function PanelTable({ title, actions, heads, children, below }: PanelTableProps) {
  return (
    <Panel title={title} actions={actions} flush>
      <div className="panel-table">
        <table>
          <thead>
            <tr>
              {heads.map(({ name, numeric = false }) => (
                <th key={name} scope="col" className={numeric ? 'numeric' : ''}>
                  {name}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>{children}</tbody>
        </table>
      </div>
      {below}
    </Panel>
  );
}

export interface TableColumn<Row> {
  /** Empty: it has no heading. */
  readonly name: string;
  /** Shown beside a cell on narrow screens, if not the name. */
  readonly label?: string;
  readonly numeric?: boolean;
  readonly className?: string;
  readonly cell: (row: Row) => ReactNode;
}

interface RowTableProps<Row> extends Pick<PanelTableProps, 'title' | 'actions' | 'below'> {
  readonly rows: readonly Row[];
  /** The first one says what a row is about. */
  readonly columns: readonly TableColumn<Row>[];
  readonly keyOf: (row: Row) => string | number;
  readonly rowClass?: string;
}

/** A short table of equal rows. */
export function RowTable<Row>({ rows, columns, keyOf, rowClass, ...panel }: RowTableProps<Row>) {
  const [first, ...others] = columns;
  return (
    <PanelTable {...panel} heads={columns}>
      {rows.map((row) => (
        <tr key={keyOf(row)} className={rowClass}>
          <th scope="row" className={first?.className}>
            {first?.cell(row)}
          </th>
          {others.map(({ name, label = name, numeric = false, className = '', cell }) => (
            <td key={name} data-label={label} className={`${numeric ? 'numeric' : ''} ${className}`.trim()}>
              {cell(row)}
            </td>
          ))}
        </tr>
      ))}
    </PanelTable>
  );
}

interface LoadMoreProps {
  readonly label: string;
  readonly busy: boolean;
  readonly onLoad: () => void;
}

/** Loads the next page of a list. */
export function LoadMore({ label, busy, onLoad }: LoadMoreProps) {
  return (
    <div className="load-more">
      <Button disabled={busy} onClick={onLoad}>
        {busy ? 'Loading…' : label}
      </Button>
    </div>
  );
}
