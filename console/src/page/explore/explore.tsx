import { useEffect, useState } from 'react';
import { lazyPart } from '../../ui/boundary/boundary.tsx';
import { nameWindow, Tabs } from '../../ui/page-part.tsx';
import './explore.css';
import { hasLater, shiftRange, type TimeRange, zoomOut } from '../../format/range.ts';
import { ownMember } from '../../format/values.ts';
import { isElsewhere, useKeyDown } from '../../ui/field-key.ts';
import { CloseAction, Dialog } from '../../ui/overlay/dialog.tsx';
import { VIEWS } from './address.ts';
import { ExploreHead } from './explore-head.tsx';
import { type Exploring, ExploringContext, useAddressedSearch } from './exploring.ts';
import { HistogramPanel } from './histogram/histogram.tsx';
import { LinesPanel } from './lines/lines-panel.tsx';

const TITLE_CHARS_MAX = 80;

// Each is loaded when it is first shown: most visits only read lines.
const Patterns = lazyPart(async () => (await import('./analysis/patterns.tsx')).Patterns);
const Compare = lazyPart(async () => (await import('./analysis/compare.tsx')).Compare);
const Timeline = lazyPart(async () => (await import('./analysis/timeline.tsx')).Timeline);

const SHOWN = { lines: LinesPanel, patterns: Patterns, compare: Compare, timeline: Timeline };

export default function ExplorePage() {
  const exploring = useAddressedSearch();
  const { address, change } = exploring;
  const [help, setHelp] = useState(false);
  const onHelp = () => setHelp(true);
  usePageKeys(exploring, onHelp);
  const searched = address.q.trim().slice(0, TITLE_CHARS_MAX) || address.source.join(', ');
  useEffect(() => nameWindow(searched === '' ? 'Explore' : `${searched} · Explore`), [searched]);
  const View = SHOWN[address.view];
  return (
    <ExploringContext value={exploring}>
      <div className="explore">
        <ExploreHead onHelp={onHelp} />
        <HistogramPanel />
        <div className="explore-views">
          <Tabs
            label="Events as"
            options={VIEWS}
            selected={address.view}
            onSelect={(view) => change({ view })}
          >
            <View />
          </Tabs>
        </div>
        {help && <KeyHelp onClose={() => setHelp(false)} />}
      </div>
    </ExploringContext>
  );
}

function usePageKeys({ address, change }: Exploring, onHelp: () => void): void {
  const { range } = address;
  const onRange = (next: TimeRange) => change({ range: next });
  const keys: Readonly<Record<string, () => void>> = {
    '?': onHelp,
    '/': () => document.querySelector<HTMLElement>('.explore-query input')?.focus(),
    '[': () => onRange(shiftRange(range, 'earlier', Date.now())),
    ']': () => {
      if (hasLater(range, Date.now())) onRange(shiftRange(range, 'later', Date.now()));
    },
    o: () => onRange(zoomOut(range, Date.now())),
  };
  useKeyDown((event) => {
    const act = isElsewhere(event) ? undefined : ownMember(keys, event.key);
    if (act === undefined) return;
    event.preventDefault();
    act();
  });
}

const KEYS: readonly (readonly [keys: readonly string[], meaning: string])[] = [
  [['/'], 'write a search; Enter runs it and goes to the lines'],
  [['j', 'k'], 'next or previous line; on a line also ↓ and ↑'],
  [['Enter'], 'open the line, or close it'],
  [['Esc'], 'close what is open, or leave a field'],
  [['Tab'], 'reach everything else: values of an open line have a menu'],
  [
    ['←', '→'],
    'on the chart: walk through the time buckets; with Shift select some, Enter zooms to them, m marks them to compare',
  ],
  [['[', ']'], 'the range of time before, or after'],
  [['o'], 'a range of twice the length'],
  [['?'], 'this list'],
];

function KeyHelp({ onClose }: { readonly onClose: () => void }) {
  return (
    <Dialog title="Shortcuts" onClose={onClose}>
      <dl className="explore-keys">
        {KEYS.map(([keys, meaning]) => (
          <div key={meaning}>
            <dt>
              {keys.map((key) => (
                <kbd key={key}>{key}</kbd>
              ))}
            </dt>
            <dd>{meaning}</dd>
          </div>
        ))}
      </dl>
      <CloseAction onClose={onClose} />
    </Dialog>
  );
}
