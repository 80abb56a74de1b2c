import './saved-searches.css';
import { useEffect, useState } from 'react';
import { Link } from 'wouter';
import { mayUseWorkbench, queries, useClient, useRead } from '../../api/queries.ts';
import { Check, Input } from '../../ui/form.tsx';
import { Popover } from '../../ui/overlay/popover.tsx';
import { Button, CopyButton, QuietButton, Tag } from '../../ui/page-part.tsx';
import { TimeRangeControl } from '../../ui/time/time-range.tsx';
import { onSearchPath } from '../workbench/path.ts';
import { type ExploreAddress, explorePath } from './address.ts';
import { Download } from './download.tsx';
import { useExploring } from './exploring.ts';
import { goToLines } from './lines/line-list.tsx';
import { QueryField } from './query-field.tsx';
import { SavedSearches } from './saved-searches.tsx';
import { ceilTo, faultOf, floorTo, type Search, searchParameters, toRange } from './search.ts';

export function ExploreHead({ onHelp }: { readonly onHelp: () => void }) {
  const { address, unread, search, change, refresh } = useExploring();
  /** The address that always shows the events up to now. */
  const toFixed = (): ExploreAddress => {
    if (address.range.kind === 'absolute') return address;
    const endMs = address.live ? Date.now() : search.nowMs;
    const untilMs = Math.max(search.fromMs + 1, Math.min(search.untilMs, endMs));
    return { ...address, range: toRange(search.fromMs, untilMs), live: false };
  };
  return (
    <header className="explore-head">
      <div className="explore-bar">
        <h1>Explore</h1>
        <TimeRangeControl value={address.range} onChange={(range) => change({ range })} onRefresh={refresh} />
        <div className="row explore-tools">
          <Popover label="Saved" title="Saved searches">
            {(close) => <SavedSearches onClose={close} />}
          </Popover>
          <SaveAsEndpoint />
          <AlertOnThis />
          <CopyButton
            text={() => location.origin + explorePath(toFixed())}
            label="Copy link"
            title="With the time range as it is now"
          />
          <Download />
          <QuietButton onClick={onHelp}>
            Shortcuts <kbd>?</kbd>
          </QuietButton>
        </div>
      </div>
      {unread.length > 0 && (
        <p className="query-fault" role="alert">
          The address has {unread.join(', ')}, which cannot be read: the page shows its default instead.
        </p>
      )}
      <div className="explore-bar">
        <SourceChoice />
        <ProjectField />
        <QueryRow />
      </div>
    </header>
  );
}

function ProjectField() {
  const { address, change } = useExploring();
  const pinned = useClient().self.pins['project'];
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
    if (draft.trim() !== address.project) change({ project: draft.trim() });
  };
  return (
    <Input
      className="explore-project"
      aria-label="Project"
      placeholder="All projects"
      suggestions={projects.value?.result ?? []}
      value={draft}
      onChange={(next, { nativeEvent }) => {
        setDraft(next);
        // An entry of the list was chosen, or the field was cleared.
        const isChosen = !('inputType' in nativeEvent) || nativeEvent.inputType === 'insertReplacementText';
        if (isChosen) change({ project: next.trim() });
      }}
      onBlur={apply}
      onKeyDown={({ key, currentTarget }) => {
        if (key === 'Enter') goToLines(currentTarget); // leaving it applies it
      }}
    />
  );
}

function QueryRow() {
  const { address, change, lines, histogram, refresh } = useExploring();
  const [draft, setDraft] = useState(address.q);
  useEffect(() => setDraft(address.q), [address.q]);
  const isRunning = [lines, histogram].some(({ state }) => state.kind === 'running');
  // It is about the text that was searched for; another one may be right.
  const isSearched = draft === address.q;
  const fault = isSearched && lines.state.kind === 'failed' ? faultOf(lines.state.error) : undefined;
  const onRun = (q: string) => (q === address.q ? refresh() : change({ q }));
  const onStop = () => {
    lines.stop();
    histogram.stop();
  };
  return (
    <>
      <div className="explore-query">
        <QueryField value={draft} onChange={setDraft} {...{ onRun, fault }} />
      </div>
      {isRunning && isSearched ? (
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

/** Opens the workbench with a part of the page that one SELECT can return, as SQL, a chart and a test. */
function SaveAsEndpoint() {
  const { self } = useClient();
  const { address, search } = useExploring();
  const { by, measure } = address;
  const parts = [
    { part: 'histogram', label: 'The chart', help: `${measure || 'count'} by ${by} over time` },
    { part: 'rows', label: 'The lines', help: 'the newest events' },
    { part: 'values', label: 'The top values', help: `of ${by}` },
  ] as const;
  return (
    <Popover label="Save as endpoint" title="Save as endpoint">
      {(close) =>
        mayUseWorkbench(self) ? (
          <ul className="saved-list">
            {parts.map(({ part, label, help }) => (
              <li key={part}>
                <Link
                  className="saved-open"
                  href={onSearchPath('/workbench', toParameters(address, search, part))}
                  onClick={close}
                >
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

/** Opens the form of an alert on what the page shows: the measure of its chart, else the number of events of each source. */
function AlertOnThis() {
  const { self } = useClient();
  const { address, search } = useExploring();
  if (!mayUseWorkbench(self)) return null;
  const parameters =
    address.measure === ''
      ? toParameters({ ...address, by: 'source' }, search, 'values')
      : toParameters(address, search, 'histogram');
  return (
    <Link className="button is-quiet" href={onSearchPath('/workbench/alert', parameters)}>
      Alert on this
    </Link>
  );
}

type Part = 'histogram' | 'rows' | 'values';

/** The parameters of a part of the search, over whole time buckets. */
function toParameters({ by, measure, top }: ExploreAddress, search: Search, part: Part) {
  const { widthMs, offsetMs } = search;
  const fromMs = floorTo(search.fromMs, widthMs, offsetMs);
  const untilMs = ceilTo(search.untilMs, widthMs, offsetMs);
  const buckets = String(Math.round((untilMs - fromMs) / widthMs));
  const more = {
    histogram: { part, by, measure, top: String(top ?? ''), buckets },
    rows: { part },
    values: { part, field: by },
  };
  return searchParameters(search, { fromMs, untilMs }, more[part]);
}

function SourceChoice() {
  const { address, change, sources } = useExploring();
  const chosen = address.source;
  const names = sources.map(({ name }) => name);
  // A search that names no source leaves out those of Tailrace itself.
  const usual = sources.filter(({ internal }) => !internal).map(({ name }) => name);
  // A shared address may name sources that this key may not search: they can be unticked.
  const unknown = chosen.filter((name) => !names.includes(name));
  const isTicked = (name: string) => (chosen.length === 0 ? usual : chosen).includes(name);
  const toggle = (name: string) => {
    const ticked = [...names.filter(isTicked), ...unknown];
    const next = ticked.includes(name) ? ticked.filter((one) => one !== name) : [...ticked, name];
    const areUsual = next.length === usual.length && next.every((one) => usual.includes(one));
    change({ source: areUsual ? [] : next });
  };
  const label = chosen.length > 1 ? `${chosen.length} sources` : (chosen[0] ?? 'All sources');
  return (
    <Popover title="Sources" isChoice label={<span className="explore-chosen">{label}</span>}>
      {() => (
        <fieldset className="explore-sources" aria-label="Sources to search">
          <QuietButton aria-pressed={chosen.length === 0} onClick={() => change({ source: [] })}>
            All sources
          </QuietButton>
          {[...sources, ...unknown.map((name) => ({ name, description: 'unknown to this key' }))].map(
            ({ name, description }) => (
              <div key={name} className="explore-source">
                <Check
                  title={description}
                  checked={isTicked(name)}
                  disabled={chosen.length === 1 && chosen[0] === name}
                  onChange={() => toggle(name)}
                >
                  {name}
                </Check>
                <QuietButton aria-label={`Only ${name}`} onClick={() => change({ source: [name] })}>
                  only
                </QuietButton>
              </div>
            ),
          )}
        </fieldset>
      )}
    </Popover>
  );
}
