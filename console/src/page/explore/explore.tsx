import { type ReactNode, Suspense, useCallback, useMemo, useState } from 'react';
import { useLocation, useSearch } from 'wouter';
import { useClient } from '../../api/client.ts';
import { lazyPart } from '../../ui/boundary/boundary.tsx';
import { useTitle } from '../../ui/page-head.tsx';
import { Tabs } from '../../ui/tabs.tsx';
import { addTerm, type Line } from './lines/line.ts';
import type { Lines } from './lines/use-lines.ts';
import './explore.css';
import { type ExploreAddress, explorePath, parseAddress, VIEWS } from './address.ts';
import { parseMark } from './analysis/compare-sets.ts';
import { EventLines } from './event-lines.tsx';
import { ExploreHead } from './explore-head.tsx';
import { useDeploys } from './histogram/deploys.tsx';
import { HistogramPanel } from './histogram/histogram.tsx';
import { parseMeasure } from './histogram/measure.ts';
import { KeyHelp, usePageKeys } from './page-keys.tsx';
import { pathAround, toMark, toRange } from './paths.ts';
import { rangeOf, type Search, toAsked } from './search/search.ts';
import { useExplore } from './use-explore.ts';
import { useFields } from './use-fields.ts';

const TITLE_CHARS_MAX = 80;

/** Searches the events of every source: a chart of when they happened, their lines, and what they have in common. */
export default function ExplorePage() {
  const [given, change] = useAddress();
  const pinned = useClient().self.pins['project'];
  const address = useMemo(() => ({ ...given, project: pinned ?? given.project }), [given, pinned]);
  const [help, setHelp] = useState(false);
  const explored = useExplore(address);
  const { search, lines, histogram, refresh } = explored;
  const isRunning = [lines, histogram].some(({ state }) => state.kind === 'running');
  const fields = useFields(search, lines.lines);
  const { by, top } = address;
  const choice = { by, top, measure: parseMeasure(address.measure) };
  const deploys = useDeploys(fields.sources, search);
  const onRange = (range: Parameters<typeof toAsked>[0]) => change(toAsked(range));
  usePageKeys({ range: rangeOf(address), onRange, onHelp: () => setHelp(true) });
  const searched = address.q.trim().slice(0, TITLE_CHARS_MAX) || address.source.join(', ');
  useTitle(searched === '' ? 'Explore' : `${searched} · Explore`);
  const onFilter = (term: string) => change({ q: addTerm(address.q, term) });
  return (
    <div className="explore">
      <ExploreHead
        {...{ address, pinned, search, fields }}
        running={isRunning}
        error={lines.state.kind === 'failed' ? lines.state.error : undefined}
        onChange={change}
        onRun={(q) => (q === address.q ? refresh() : change({ q }))}
        onRefresh={refresh}
        onStop={() => {
          lines.stop();
          histogram.stop();
        }}
        onHelp={() => setHelp(true)}
      />
      <HistogramPanel
        {...{ histogram, deploys, onFilter }}
        choice={choice}
        fields={fields.fields}
        groups={fields.groups}
        onChoice={change}
        onZoom={(fromMs, untilMs) => change({ ...toRange(fromMs, untilMs), live: false })}
        onMark={(fromMs, untilMs) =>
          change({ view: 'compare', compare: 'range', mark: toMark(fromMs, untilMs) })
        }
        isMarking={address.view === 'compare'}
        mark={parseMark(address.mark)}
      />
      <Views
        {...{ address, search, lines, onFilter }}
        onChange={change}
        pathAround={(line) => pathAround(address, line)}
      >
        <EventLines {...{ address, explored, fields, onFilter }} onChange={change} />
      </Views>
      {help && <KeyHelp onClose={() => setHelp(false)} />}
    </div>
  );
}

/** The members that make another search: it adds a history entry, so the back button returns to the previous one. */
const SEARCHED: readonly (keyof ExploreAddress)[] = [
  'q',
  'source',
  'project',
  'range',
  'from',
  'until',
  'at',
];

/** The address of the page, and a function that changes it. A line to mark belongs to one search: another one has none. */
function useAddress(): [ExploreAddress, (change: Partial<ExploreAddress>) => void] {
  const search = useSearch();
  const [, navigate] = useLocation();
  const address = useMemo(() => parseAddress(search), [search]);
  const change = useCallback(
    (part: Partial<ExploreAddress>) => {
      const isOther = SEARCHED.some((name) => name in part);
      const next = { ...address, ...(isOther && { at: '' }), ...part };
      navigate(explorePath(next), { replace: !isOther });
    },
    [address, navigate],
  );
  return [address, change];
}

// Each is loaded when it is first shown: most visits only read lines.
const Patterns = lazyPart(async () => (await import('./analysis/patterns.tsx')).Patterns);
const Compare = lazyPart(async () => (await import('./analysis/compare.tsx')).Compare);
const Timeline = lazyPart(async () => (await import('./analysis/timeline.tsx')).Timeline);

interface ViewsProps {
  readonly address: ExploreAddress;
  readonly search: Search;
  readonly lines: Lines;
  readonly onFilter: (term: string) => void;
  readonly onChange: (change: Partial<ExploreAddress>) => void;
  readonly pathAround: (line: Line) => string;
  /** The lines. */
  readonly children: ReactNode;
}

/** The events of a search: their lines, or what they have in common, what sets them apart, and when they happened. */
function Views({ address, search, lines, children, ...actions }: ViewsProps) {
  const { onFilter, onChange, pathAround } = actions;
  const [, navigate] = useLocation();
  const { view } = address;
  return (
    <div className="explore-views">
      <Tabs label="Events as" tabs={VIEWS} selected={view} onSelect={(id) => onChange({ view: id })}>
        {view === 'lines' ? (
          children
        ) : (
          <Suspense fallback={<p className="muted">Loading…</p>}>
            {view === 'patterns' && <Patterns {...{ search, onFilter }} />}
            {view === 'compare' && <Compare {...{ address, search, onChange, onFilter }} />}
            {view === 'timeline' && <Timeline lines={lines} onOpen={(line) => navigate(pathAround(line))} />}
          </Suspense>
        )}
      </Tabs>
    </div>
  );
}
