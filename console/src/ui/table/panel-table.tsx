import type { ReactNode } from 'react';
import type { ApiError } from '../../api/client.ts';
import { Button } from '../button.tsx';
import { Empty, ErrorNote, Reading } from '../note.tsx';
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
function PanelTable({ title, actions, heads, children, below }: PanelTableProps) {
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
  /** undefined: they are being read. */
  readonly rows: readonly Row[] | undefined;
  /** Of the last read. */
  readonly error?: ApiError | undefined;
  /** What is said if there are none. */
  readonly empty?: readonly [title: string, text: ReactNode];
  /** The first one says what a row is about. */
  readonly columns: readonly TableColumn<Row>[];
  readonly keyOf: (row: Row) => string | number;
  readonly rowClass?: string;
}

/** A short table of equal rows; its panel also says that these are being read, cannot be read, or that there are none. */
export function RowTable<Row>(props: RowTableProps<Row>) {
  const { rows, error, empty, columns, keyOf, rowClass, ...panel } = props;
  const [first, ...others] = columns;
  if (rows === undefined || (rows.length === 0 && empty !== undefined))
    return (
      <Panel title={panel.title} actions={panel.actions}>
        {(error !== undefined || rows === undefined) && <Reading error={error} />}
        {rows !== undefined && empty !== undefined && <Empty title={empty[0]}>{empty[1]}</Empty>}
      </Panel>
    );
  return (
    <PanelTable
      {...panel}
      heads={columns}
      below={
        <>
          {panel.below}
          {error !== undefined && <ErrorNote error={error} />}
        </>
      }
    >
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
