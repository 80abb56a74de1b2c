import { queries, useRead } from '../../api/queries.ts';
import { alertFilePath } from './path.ts';

interface WorkChoiceProps {
  /** The endpoint under work; empty: a new one. */
  readonly endpoint?: string;
  /** The alert under work. */
  readonly alert?: string;
  /** @param path of the workbench with what was chosen */
  readonly onOpen: (path: string) => void;
}

export function endpointPath(name: string): string {
  return name === '' ? '/workbench' : `/workbench?${new URLSearchParams({ endpoint: name })}`;
}

/** Opens another endpoint or alert in the workbench. */
export function WorkChoice({ endpoint = '', alert, onOpen }: WorkChoiceProps) {
  const endpoints = useRead(queries.endpoints).value?.result.map(({ name }) => name) ?? [];
  const alerts = useRead(queries.alerts).value?.result.map(({ name }) => name) ?? [];
  return (
    <select
      className="input bench-choice"
      aria-label={alert === undefined ? 'Endpoint under work' : 'Alert under work'}
      value={alert === undefined ? endpointPath(endpoint) : alertFilePath(alert)}
      onChange={(event) => onOpen(event.target.value)}
    >
      <option value={endpointPath('')}>New endpoint</option>
      {withOwn(endpoints, endpoint).map((name) => (
        <option key={name} value={endpointPath(name)}>
          {name}
        </option>
      ))}
      <optgroup label="Alerts">
        <option value="/workbench/alert">New alert</option>
        {withOwn(alerts, alert ?? '').map((name) => (
          <option key={name} value={alertFilePath(name)}>
            {name}
          </option>
        ))}
      </optgroup>
    </select>
  );
}

/** A definition that was just saved is not in the list yet. */
function withOwn(names: readonly string[], own: string): readonly string[] {
  return own === '' || names.includes(own) ? names : [own, ...names];
}
