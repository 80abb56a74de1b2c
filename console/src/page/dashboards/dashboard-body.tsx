import { useIsFetching, useQueryClient } from '@tanstack/react-query';
import { type CSSProperties, useMemo, useState } from 'react';
import { useLocation, useSearch } from 'wouter';
import type { DashboardView } from '../../../../src/management/dashboard-view.ts';
import { queries, useRead } from '../../api/queries.ts';
import { ownMember } from '../../format/own.ts';
import { LinkCharts } from '../../ui/chart/chart-links.tsx';
import { TimeRangeControl } from '../../ui/time/time-range.tsx';
import { type DashboardAddress, formatAddress, parseAddress, REFRESHES, toRange } from './address.ts';
import './dashboard.css';
import { DashboardPanel, type PageState } from './panel.tsx';
import { SharedParameters } from './shared-parameters.tsx';

/** The controls and the panels of a dashboard, as the address says. */
export function DashboardBody({ dashboard }: { readonly dashboard: DashboardView }) {
  const { rows, parameters } = dashboard;
  const [path, navigate] = useLocation();
  const search = useSearch();
  const cache = useQueryClient();
  const { value: endpoints } = useRead(queries.endpoints);
  const names = useMemo(() => parameters.map(({ name }) => name), [parameters]);
  const address = useMemo(() => parseAddress(search, names), [search, names]);
  const [nowMs, setNowMs] = useState(Date.now);
  const isReading = useIsFetching({ queryKey: ['dashboard'] }) > 0;
  const change = (part: Partial<DashboardAddress>) => {
    const text = formatAddress({ ...address, ...part });
    setNowMs(Date.now());
    navigate(text === '' ? path : `${path}?${text}`, { replace: true });
  };
  const range = useMemo(
    () => address.range ?? toRange(dashboard.range_seconds),
    [address.range, dashboard.range_seconds],
  );
  const values = useMemo(() => toValues(parameters, address.values), [parameters, address.values]);
  const page: PageState = useMemo(
    () => ({ values, range, refreshSeconds: address.refresh, nowMs }),
    [values, range, address.refresh, nowMs],
  );
  return (
    <>
      <div className="dashboard-controls">
        <SharedParameters
          dashboard={dashboard}
          endpoints={endpoints?.result ?? []}
          values={values}
          onChange={(name, value) => change({ values: { ...address.values, [name]: value } })}
        />
        <TimeRangeControl
          value={range}
          onChange={(next) => change({ range: next })}
          onRefresh={() => {
            setNowMs(Date.now());
            void cache.invalidateQueries({ queryKey: ['dashboard'] });
          }}
        >
          <select
            className="input dashboard-refresh"
            aria-label="Refresh automatically"
            title="Refresh automatically"
            value={address.refresh ?? ''}
            onChange={({ target }) => change({ refresh: Number(target.value) || undefined })}
          >
            <option value="">Off</option>
            {REFRESHES.map((seconds) => (
              <option key={seconds} value={seconds}>
                {seconds} s
              </option>
            ))}
          </select>
        </TimeRangeControl>
        <span className="visually-hidden" role="status">
          {isReading ? 'Reading' : 'All panels are up to date'}
        </span>
      </div>
      {endpoints === undefined ? (
        <p className="muted">Reading…</p>
      ) : (
        <LinkCharts>
          {rows.map(({ height_px: height, panels }, row) => (
            <div
              // biome-ignore lint/suspicious/noArrayIndexKey: a row is known by its place
              key={row}
              className="dashboard-row"
              style={{ '--panels': String(panels.length) } as CSSProperties}
            >
              {panels.map((panel, i) => (
                <DashboardPanel
                  // biome-ignore lint/suspicious/noArrayIndexKey: a panel, too
                  key={i}
                  panel={panel}
                  endpoint={endpoints.result.find((one) => one.name === panel.endpoint)}
                  heightPx={height}
                  page={page}
                />
              ))}
            </div>
          ))}
        </LinkCharts>
      )}
    </>
  );
}

/** The values of the page: pins, then the address, then the defaults of the file. */
function toValues(
  parameters: DashboardView['parameters'],
  given: Readonly<Record<string, string>>,
): Record<string, string> {
  return Object.fromEntries(
    parameters.map(({ name, pinned, default: fallback }) => [
      name,
      pinned ?? ownMember(given, name) ?? fallback,
    ]),
  );
}
