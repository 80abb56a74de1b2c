import { type ReactNode, Suspense } from 'react';
import { useLocation } from 'wouter';
import { lazyPart } from '../../ui/boundary/part.ts';
import type { Line } from '../../ui/lines/line.ts';
import type { Lines } from '../../ui/lines/use-lines.ts';
import { Tabs } from '../../ui/tabs.tsx';
import { type ExploreAddress, VIEWS } from './address.ts';
import type { FieldSummariesProps } from './analysis/field-summaries.tsx';
import type { Search } from './search/search.ts';

// Each is loaded when it is first shown: most visits only read lines.
const Patterns = lazyPart(async () => (await import('./analysis/patterns.tsx')).Patterns);
const Compare = lazyPart(async () => (await import('./analysis/compare.tsx')).Compare);
const Timeline = lazyPart(async () => (await import('./analysis/timeline.tsx')).Timeline);
const Summaries = lazyPart(async () => (await import('./analysis/field-summaries.tsx')).FieldSummaries);

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
export function Views({ address, search, lines, children, ...actions }: ViewsProps) {
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

/** The list of fields with what is known about each. */
export function FieldSummaries(props: FieldSummariesProps) {
  return (
    <Suspense fallback={<p className="field-list muted">Loading…</p>}>
      <Summaries {...props} />
    </Suspense>
  );
}
