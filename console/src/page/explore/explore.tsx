import { useMemo, useState } from 'react';
import { useClient } from '../../api/client.ts';
import { addTerm } from '../../ui/lines/term.ts';
import { useTitle } from '../../ui/use-title.ts';
import { parseMark } from './analysis/compare-sets.ts';
import { EventLines } from './event-lines.tsx';
import './explore.css';
import { ExploreHead } from './explore-head.tsx';
import { HistogramPanel } from './histogram/histogram.tsx';
import { parseMeasure } from './histogram/measure.ts';
import { useDeploys } from './histogram/use-deploys.ts';
import { KeyHelp } from './key-help.tsx';
import { pathAround, toMark, toRange } from './paths.ts';
import { rangeOf, toAsked } from './search/search.ts';
import { useAddress } from './use-address.ts';
import { useExplore } from './use-explore.ts';
import { useFields } from './use-fields.ts';
import { usePageKeys } from './use-page-keys.ts';
import { Views } from './views.tsx';

const TITLE_CHARS_MAX = 80;

/** Searches the events of every source: a chart of when they happened, their lines, and what they have in common. */
export function ExplorePage() {
  const [given, change] = useAddress();
  const pinned = useClient().self.pins['project'];
  const address = useMemo(() => ({ ...given, project: pinned ?? given.project }), [given, pinned]);
  const [help, setHelp] = useState(false);
  const explored = useExplore(address);
  const { search, lines, histogram, before, refresh } = explored;
  const isRunning = [lines, histogram].some(({ state }) => state.kind === 'running');
  const fields = useFields(search, lines.lines);
  const { by, top, log } = address;
  const choice = { by, top, log, measure: parseMeasure(address.measure) };
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
        {...{ histogram, before, deploys, onFilter }}
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
        onBefore={(isShown) => change({ before: isShown })}
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
