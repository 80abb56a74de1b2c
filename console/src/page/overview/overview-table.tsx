import type { ReactNode } from 'react';
import { Panel } from '../../ui/panel.tsx';

interface OverviewTableProps {
  readonly title: string;
  /** Names of the columns; those of numbers stand at the right. */
  readonly heads: readonly { readonly name: string; readonly numeric?: boolean }[];
  /** Lines; their cells have `data-label`, which names them on a narrow screen. */
  readonly children: ReactNode;
}

/** A short table in a panel of its own. */
export function OverviewTable({ title, heads, children }: OverviewTableProps) {
  return (
    <Panel title={title} flush>
      <div className="overview-table">
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
    </Panel>
  );
}
