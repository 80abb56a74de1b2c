import './saved-searches.css';
import { type ReactNode, useEffect, useId, useState } from 'react';
import { Link } from 'wouter';
import { type ApiError, useClient } from '../../api/client.ts';
import { queries, useRead } from '../../api/queries.ts';
import { mayUseWorkbench } from '../../api/right.ts';
import { Button, CopyButton, QuietButton } from '../../ui/button.tsx';
import { Suggestions } from '../../ui/form.tsx';
import { Popover } from '../../ui/overlay/popover.tsx';
import { Tag } from '../../ui/tag.tsx';
import { TimeRangeControl } from '../../ui/time/time-range.tsx';
import { fromSearchPath, searchAlertPath } from '../workbench/path.ts';
import { type ExploreAddress, explorePath, formatAddress, parseAddress } from './address.ts';
import { Download } from './download.tsx';
import { goToLines } from './lines/use-list.ts';
import { QueryField } from './query-field.tsx';
import { SavedSearches } from './saved-searches.tsx';
import { faultOf, rangeOf, type Search, searchParameters, toAsked, toFixed } from './search/search.ts';
import { ceilTo, floorTo } from './search/slice.ts';
import { SourceChoice } from './source-choice.tsx';
import type { Fields } from './use-fields.ts';

interface ExploreHeadProps {
  readonly address: ExploreAddress;
  /** The one project that the key may see. */
  readonly pinned: string | undefined;
  readonly search: Search;
  readonly fields: Fields;
  readonly running: boolean;
  /** The error of the search, which may be about its text. */
  readonly error: ApiError | undefined;
  readonly onChange: (change: Partial<ExploreAddress>) => void;
  readonly onRun: (q: string) => void;
  readonly onRefresh: () => void;
  readonly onStop: () => void;
  readonly onHelp: () => void;
}

/** The scope of the search: range, sources, project and text. */
export function ExploreHead(props: ExploreHeadProps) {
  const { address, search, fields, onChange, onRefresh, onHelp } = props;
  const fixed = () =>
    address.range === undefined ? {} : toFixed(search, address.live ? Date.now() : search.nowMs);
  return (
    <header className="explore-head">
      <div className="explore-bar">
        <h1>Explore</h1>
        <TimeRangeControl
          value={rangeOf(address)}
          onChange={(range) => onChange(toAsked(range))}
          onRefresh={onRefresh}
        />
        <div className="explore-tools">
          <SavedSearches
            address={formatAddress(address)}
            onOpen={(saved) => onChange({ ...parseAddress(saved) })}
          />
          <SaveAsEndpoint address={address} search={search} />
          <AlertOnThis address={address} search={search} />
          <CopyButton
            text={() => location.origin + explorePath({ ...address, ...fixed() })}
            label="Copy link"
            title="With the time range as it is now"
          />
          <Download search={search} />
          <QuietButton onClick={onHelp}>
            Shortcuts <kbd>?</kbd>
          </QuietButton>
        </div>
      </div>
      <div className="explore-bar">
        <SourceChoice
          sources={fields.sources}
          chosen={address.source}
          onChange={(source) => onChange({ source })}
        />
        <ProjectField {...props} />
        <QueryRow {...props} />
      </div>
    </header>
  );
}

function ProjectField({ address, pinned, onChange }: ExploreHeadProps): ReactNode {
  const id = useId();
  const [draft, setDraft] = useState(address.project);
  useEffect(() => setDraft(address.project), [address.project]);
  const projects = useRead(queries.projects, { isWanted: pinned === undefined });
  if (pinned !== undefined)
    return (
      <span className="explore-pinned" title="Set by your key">
        Project <Tag tone="accent">{pinned}</Tag>
      </span>
    );
  const apply = () => {
    if (draft.trim() !== address.project) onChange({ project: draft.trim() });
  };
  return (
    <>
      <input
        className="input explore-project"
        aria-label="Project"
        placeholder="All projects"
        list={id}
        autoComplete="off"
        spellCheck={false}
        value={draft}
        onChange={({ target, nativeEvent }) => {
          setDraft(target.value);
          // An entry of the list was chosen, or the field was cleared.
          const isChosen = !('inputType' in nativeEvent) || nativeEvent.inputType === 'insertReplacementText';
          if (isChosen) onChange({ project: target.value.trim() });
        }}
        onBlur={apply}
        onKeyDown={({ key, currentTarget }) => {
          if (key === 'Enter') goToLines(currentTarget); // leaving it applies it
        }}
      />
      <Suggestions id={id} values={projects.value?.result ?? []} />
    </>
  );
}

function QueryRow({ address, fields, running, error, onRun, onStop }: ExploreHeadProps) {
  const [draft, setDraft] = useState(address.q);
  useEffect(() => setDraft(address.q), [address.q]);
  // It is about the text that was searched for; another one may be right.
  const fault = draft === address.q ? faultOf(error) : undefined;
  return (
    <>
      <div className="explore-query">
        <QueryField
          value={draft}
          onChange={setDraft}
          onRun={onRun}
          fields={fields.fields}
          valuesOf={fields.allValuesOf}
          fault={fault}
        />
      </div>
      {running && draft === address.q ? (
        <Button className="explore-run" onClick={onStop}>
          Stop
        </Button>
      ) : (
        <Button look="primary" className="explore-run" onClick={() => onRun(draft)}>
          Search
        </Button>
      )}
    </>
  );
}

interface SaveAsEndpointProps {
  readonly address: ExploreAddress;
  readonly search: Search;
}

/** Opens the workbench with what the page shows as SQL, a chart and a test. */
function SaveAsEndpoint(props: SaveAsEndpointProps) {
  const { self } = useClient();
  return (
    <Popover label="Save as endpoint" title="Save as endpoint">
      {(close) =>
        mayUseWorkbench(self) ? (
          <ul className="saved-list">
            {listParts(props).map(({ label, help, path }) => (
              <li key={label}>
                <Link className="saved-open" href={path} onClick={close}>
                  <span>{label}</span>
                  <span className="muted small">{help}</span>
                </Link>
              </li>
            ))}
          </ul>
        ) : (
          <p className="saved-note">
            Endpoints are written in the workbench. It needs a key with the scopes query and manage, without
            pins and lists: its SQL reads the events of every project.
          </p>
        )
      }
    </Popover>
  );
}

/** The parts of the page that one SELECT can return, each with the path of its draft. */
function listParts({ address, search }: SaveAsEndpointProps) {
  const { by, measure } = address;
  const { chart, toParameters } = describeParts({ address, search });
  const toPath = (more: Readonly<Record<string, string>>) => fromSearchPath(toParameters(more));
  return [
    { label: 'The chart', help: `${measure || 'count'} by ${by} over time`, path: toPath(chart) },
    { label: 'The lines', help: 'the newest events', path: toPath({ part: 'rows' }) },
    { label: 'The top values', help: `of ${by}`, path: toPath({ part: 'values', field: by }) },
  ];
}

/** Opens the form of an alert on what the page shows: the measure of its chart, else the number of events of each source. */
function AlertOnThis({ address, search }: SaveAsEndpointProps) {
  const { self } = useClient();
  if (!mayUseWorkbench(self)) return null;
  const { chart, toParameters } = describeParts({ address, search });
  const asked = address.measure === '' ? { part: 'values', field: 'source' } : chart;
  return (
    <Link className="button is-quiet" href={searchAlertPath(toParameters(asked))}>
      Alert on this
    </Link>
  );
}

function describeParts({ address: { by, measure, top }, search }: SaveAsEndpointProps) {
  const { widthMs, offsetMs } = search;
  const fromMs = floorTo(search.fromMs, widthMs, offsetMs);
  const untilMs = ceilTo(search.untilMs, widthMs, offsetMs);
  const chart: Readonly<Record<string, string>> = {
    ...{ part: 'histogram', by, measure, top: top === undefined ? '' : String(top) },
    buckets: String(Math.round((untilMs - fromMs) / widthMs)),
  };
  return {
    chart,
    /** The parameters of a part of the search. */
    toParameters: (more: Readonly<Record<string, string>>) =>
      searchParameters(search, { fromMs, untilMs }, more),
  };
}
