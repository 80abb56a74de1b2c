import { useIsFetching, useQueryClient } from '@tanstack/react-query';
import { type ComponentProps, type CSSProperties, useEffect, useId, useMemo, useState } from 'react';
import type { DashboardView } from '../../../../src/management/dashboard-view.ts';
import { queries, useRead } from '../../api/queries.ts';
import { ownMember } from '../../format/values.ts';
import { LinkCharts } from '../../ui/chart/linked-charts.tsx';
import { Form, Select } from '../../ui/form.tsx';
import { Reading, Tag } from '../../ui/page-part.tsx';
import { TimeRangeControl } from '../../ui/time/time-range.tsx';
import { fillIn, ParameterControl } from '../endpoint/parameter-control.tsx';
import './dashboard.css';
import { rangeParameters, readRange, toLast } from '../../format/range.ts';
import { OWN, usePageAddress, valuesIn } from '../../ui/page-address.ts';
import { DashboardPanel } from './panel.tsx';
import type { PageState } from './values.ts';

const REFRESH = `${OWN}refresh`;
const REFRESHES: readonly number[] = [5, 10, 30, 60];

export function DashboardBody({ dashboard }: { readonly dashboard: DashboardView }) {
  const { rows, parameters, range_seconds: seconds } = dashboard;
  const { query, change: changeAddress } = usePageAddress();
  const cache = useQueryClient();
  const { value: endpoints } = useRead(queries.endpoints);
  const [nowMs, setNowMs] = useState(Date.now);
  const isReading = useIsFetching({ queryKey: ['dashboard'] }) > 0;
  const change: typeof changeAddress = (members) => {
    setNowMs(Date.now());
    changeAddress(members, { replace: true });
  };
  const page: PageState = useMemo(() => {
    const values = fillIn(parameters, valuesIn(query, parameters));
    const range = readRange(query, OWN) ?? { kind: 'last', range: toLast(seconds * 1000) ?? '24h' };
    const refreshSeconds = REFRESHES.find((every) => String(every) === query.get(REFRESH));
    return { values, range, refreshSeconds, nowMs };
  }, [query, parameters, seconds, nowMs]);
  return (
    <>
      <div className="dashboard-controls">
        <SharedParameters
          dashboard={dashboard}
          values={page.values}
          onChange={(name, value) => change({ [name]: value })}
        />
        <TimeRangeControl
          value={page.range}
          onChange={(next) => change(rangeParameters(next, OWN))}
          onRefresh={() => {
            setNowMs(Date.now());
            void cache.invalidateQueries({ queryKey: ['dashboard'] });
          }}
        >
          <Select
            className="dashboard-refresh"
            aria-label="Refresh automatically"
            title="Refresh automatically"
            value={page.refreshSeconds ?? ''}
            onChange={(every) => change({ [REFRESH]: every || undefined })}
            options={REFRESHES.map((every) => [String(every), `${every} s`])}
          >
            <option value="">Off</option>
          </Select>
        </TimeRangeControl>
        <span className="visually-hidden" role="status">
          {isReading ? 'Reading' : 'All panels are up to date'}
        </span>
      </div>
      {endpoints === undefined ? (
        <Reading />
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

interface SharedParametersProps {
  readonly dashboard: DashboardView;
  readonly values: Readonly<Record<string, string>>;
  readonly onChange: (name: string, value: string) => void;
}

/** A control for each parameter that the panels share, as their endpoints declare it. */
function SharedParameters({ dashboard, values, onChange }: SharedParametersProps) {
  const { parameters, rows } = dashboard;
  const names = new Set(rows.flatMap(({ panels }) => panels.map(({ endpoint }) => endpoint)));
  const endpoints = useRead(queries.endpoints).value?.result ?? [];
  const declared = endpoints.filter(({ name }) => names.has(name)).flatMap((one) => one.parameters);
  const projects = useRead(queries.projects, { isWanted: parameters.some(({ name }) => name === 'project') });
  const shown = parameters.flatMap(({ name, pinned }) => {
    const found = declared.find((one) => one.name === name);
    return found === undefined ? [] : [{ ...found, pinned, required: false }];
  });
  if (shown.length === 0) return null;
  return (
    <div className="dashboard-parameters">
      {shown.map((parameter) => (
        <SharedParameter
          key={parameter.name}
          parameter={parameter}
          value={ownMember(values, parameter.name) ?? ''}
          suggestions={parameter.name === 'project' ? (projects.value?.result ?? []) : []}
          onChange={(value) => onChange(parameter.name, value)}
        />
      ))}
    </div>
  );
}

/** A choice counts at once, a text with Enter, when it is left, or if it is one of the suggestions. */
function SharedParameter(props: Omit<ComponentProps<typeof ParameterControl>, 'id'>) {
  const { parameter, value, suggestions, onChange } = props;
  const id = useId();
  const [draft, setDraft] = useState(value);
  useEffect(() => setDraft(value), [value]);
  const isAtOnce = parameter.control === 'choice' || parameter.control === 'time';
  const take = (next: string) => {
    setDraft(next);
    if (isAtOnce || suggestions.includes(next)) onChange(next);
  };
  const settle = () => {
    if (draft !== value) onChange(draft);
  };
  return (
    <Form className="dashboard-parameter" onSubmit={settle} onBlur={settle}>
      <label htmlFor={id} title={parameter.description}>
        {parameter.name}
        {parameter.pinned !== null && <Tag tone="accent">set by your key</Tag>}
      </label>
      <ParameterControl {...props} id={id} value={draft} onChange={take} />
      <span id={`${id}-help`} className="visually-hidden">
        {parameter.description}
      </span>
    </Form>
  );
}
