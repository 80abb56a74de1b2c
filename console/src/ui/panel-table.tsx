import type { ReactNode } from 'react';
import { Panel } from './panel.tsx';
import './panel-table.css';

interface PanelTableProps {
  readonly title: string;
  readonly actions?: ReactNode;
  /** Names of the columns; those of numbers stand at the right. */
  readonly heads: readonly { readonly name: string; readonly numeric?: boolean }[];
  /** Lines; their cells have `data-label`, which names them on a narrow screen. */
  readonly children: ReactNode;
  /** What stands below the last line. */
  readonly below?: ReactNode;
}

/** A short table in a panel of its own. */
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
