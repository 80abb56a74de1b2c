import type { ReactNode } from 'react';
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
