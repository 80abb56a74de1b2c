import { Suspense, useState } from 'react';
import { lazyPart } from '../../ui/boundary/boundary.tsx';
import { useTitle } from '../../ui/page-head.tsx';
import { Tabs } from '../../ui/tabs.tsx';
import './explore.css';
import { VIEWS } from './address.ts';
import { ExploreHead } from './explore-head.tsx';
import { ExploringContext, useAddressedSearch } from './exploring.ts';
import { HistogramPanel } from './histogram/histogram.tsx';
import { LinesPanel } from './lines/lines-panel.tsx';
import { KeyHelp, usePageKeys } from './page-keys.tsx';

const TITLE_CHARS_MAX = 80;

// Each is loaded when it is first shown: most visits only read lines.
const Patterns = lazyPart(async () => (await import('./analysis/patterns.tsx')).Patterns);
const Compare = lazyPart(async () => (await import('./analysis/compare.tsx')).Compare);
const Timeline = lazyPart(async () => (await import('./analysis/timeline.tsx')).Timeline);

const SHOWN = { lines: LinesPanel, patterns: Patterns, compare: Compare, timeline: Timeline };

/** Searches the events of every source: a chart of when they happened, their lines, and what they have in common. */
export default function ExplorePage() {
  const exploring = useAddressedSearch();
  const { address, change } = exploring;
  const [help, setHelp] = useState(false);
  const onHelp = () => setHelp(true);
  usePageKeys(exploring, onHelp);
  const searched = address.q.trim().slice(0, TITLE_CHARS_MAX) || address.source.join(', ');
  useTitle(searched === '' ? 'Explore' : `${searched} · Explore`);
  const View = SHOWN[address.view];
  return (
    <ExploringContext value={exploring}>
      <div className="explore">
        <ExploreHead onHelp={onHelp} />
        <HistogramPanel />
        <div className="explore-views">
          <Tabs label="Events as" tabs={VIEWS} selected={address.view} onSelect={(view) => change({ view })}>
            <Suspense fallback={<p className="muted">Loading…</p>}>
              <View />
            </Suspense>
          </Tabs>
        </div>
        {help && <KeyHelp onClose={() => setHelp(false)} />}
      </div>
    </ExploringContext>
  );
}
