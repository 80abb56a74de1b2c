import type { ReactNode } from 'react';
import { useLocation } from 'wouter';
import { queries, useRead } from '../../api/queries.ts';
import { Options, Select } from '../../ui/form.tsx';
import { alertFilePath, endpointFilesPath } from './path.ts';
import './workbench.css';

/** @param endpoint the endpoint under work; empty: a new one. @param alert the alert under work; empty: a new one */
export function WorkHead(props: Readonly<{ endpoint?: string; alert?: string; children?: ReactNode }>) {
  const { endpoint = '', alert, children } = props;
  const [, navigate] = useLocation();
  const endpoints = useRead(queries.endpoints).value?.result ?? [];
  const alerts = useRead(queries.alerts).value?.result ?? [];
  return (
    <div className="page-head bench-head">
      <h1>Workbench</h1>
      <Select
        className="bench-choice"
        aria-label={alert === undefined ? 'Endpoint under work' : 'Alert under work'}
        value={alert === undefined ? endpointFilesPath(endpoint) : alertFilePath(alert)}
        onChange={(path) => navigate(path)}
      >
        <option value={endpointFilesPath('')}>New endpoint</option>
        <Options options={withOwn(endpoints, endpoint).map((name) => [endpointFilesPath(name), name])} />
        <optgroup label="Alerts">
          <option value={alertFilePath('')}>New alert</option>
          <Options options={withOwn(alerts, alert).map((name) => [alertFilePath(name), name])} />
        </optgroup>
      </Select>
      {children}
    </div>
  );
}

/** A definition that was just saved is not in the list yet. */
function withOwn(all: readonly { readonly name: string }[], own = ''): readonly string[] {
  const names = all.map(({ name }) => name);
  return own === '' || names.includes(own) ? names : [own, ...names];
}
