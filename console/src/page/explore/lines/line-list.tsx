import { useVirtualizer } from '@tanstack/react-virtual';
import { useEffect, useId, useLayoutEffect, useMemo, useRef, useState } from 'react';
import { showText } from '../../../format/log-text.ts';
import { formatTimeMs, fromMicros } from '../../../format/time.ts';
import { usePreference, useZone } from '../../../preference.ts';
import { useExploring } from '../exploring.ts';
import { formatValue, type Line, valueAt } from './line.ts';
import { type ColumnWidths, HEADER_PX, LineHeader, useColumnWidths } from './line-header.tsx';
import './line.css';
import { Record } from './record.tsx';
import { goToNewest, LINE_PX, useEnd, useLineKeys, useMarked } from './use-list.ts';

interface LineListProps {
  /** Whether the lines are looked at: one is open, or the newest are out of sight. */
  readonly onHeld: (isHeld: boolean) => void;
}

/** A virtual list of lines, which open. j and k, or arrow keys, go from one to the next. */
export function LineList({ onHeld }: LineListProps) {
  const { address, lines: read } = useExploring();
  const isOldest = address.order === 'oldest';
  const id = useId();
  const { wrap } = usePreference().preference;
  const widths = useColumnWidths();
  const lines = useMemo(() => (isOldest ? read.lines.toReversed() : read.lines), [read.lines, isOldest]);
  const { scroll, virtual, open, toggle, focused, marked, onScroll } = useListState(lines, onHeld);
  return (
    <section
      className={`line-list${read.isOld ? ' is-old' : ''}${wrap ? ' is-wrapped' : ''}`}
      ref={scroll}
      tabIndex={-1}
      style={widths.style}
      aria-label={isOldest ? 'Lines, oldest first' : 'Lines, newest first'}
      onScroll={onScroll}
    >
      <LineHeader widths={widths} />
      <ol style={{ height: virtual.getTotalSize() }}>
        {virtual.getVirtualItems().map((item) => {
          const line = lines[item.index];
          if (line === undefined) return null;
          const isOpen = open.has(line.key);
          const panel = `${id}-${item.index}`;
          return (
            <li
              key={item.key}
              data-index={item.index}
              ref={virtual.measureElement}
              className={`line is-${line.level ?? 'none'}${line.key === marked?.key ? ' is-marked' : ''}`}
              style={{ transform: `translateY(${item.start - HEADER_PX}px)` }}
            >
              <button
                type="button"
                className="line-row line-head"
                tabIndex={item.index === focused ? 0 : -1} // the arrow keys reach the others
                aria-expanded={isOpen}
                aria-controls={isOpen ? panel : undefined}
                onClick={() => toggle(line.key)}
              >
                <Cells {...{ line, widths }} />
              </button>
              {isOpen && <Record id={panel} line={line} />}
            </li>
          );
        })}
      </ol>
    </section>
  );
}

const CELL_CHARS_MAX = 200;
const MESSAGE_CHARS_MAX = 2_000;

function Cells({ line, widths }: { readonly line: Line; readonly widths: ColumnWidths }) {
  const { columns } = useExploring().address;
  const zone = useZone();
  const { micros, level, source, message } = line;
  return (
    <>
      <time className="line-time number" dateTime={fromMicros(micros)}>
        {formatTimeMs(micros / 1000, zone)}
      </time>
      <span className="line-level">{level ?? '–'}</span>
      <span className="line-source" title={source}>
        {source}
      </span>
      {columns.map((field) => {
        const text = showText(formatValue(valueAt(line, field)).slice(0, MESSAGE_CHARS_MAX));
        return (
          <span key={field} className="line-cell" style={widths.cellOf(field)} title={text}>
            {text.slice(0, CELL_CHARS_MAX) || '–'}
          </span>
        );
      })}
      <span className="line-message">{showText(message.slice(0, MESSAGE_CHARS_MAX))}</span>
    </>
  );
}

function useListState(lines: readonly Line[], onHeld: LineListProps['onHeld']) {
  const { address, lines: read } = useExploring();
  const isOldest = address.order === 'oldest';
  const [open, setOpen] = useState<ReadonlySet<string>>(new Set());
  /** The line that keys start from. */
  const [current, setCurrent] = useState<string>();
  const [isScrolled, setScrolled] = useState(false);
  const scroll = useRef<HTMLElement>(null);
  const isHeld = isScrolled || (open.size > 0 && lines.some(({ key }) => open.has(key)));
  // Before the next lines come. A list that is gone is not looked at.
  useLayoutEffect(() => onHeld(isHeld), [isHeld, onHeld]);
  useEffect(() => () => onHeld(false), [onHeld]);
  // biome-ignore lint/correctness/useExhaustiveDependencies: the lines are of another search
  useEffect(() => goToNewest(scroll.current, address.order), [read.search]);
  const virtual = useVirtualizer({
    count: lines.length,
    getScrollElement: () => scroll.current,
    estimateSize: () => LINE_PX,
    getItemKey: (index) => lines[index]?.key ?? index,
    overscan: 12,
    scrollMargin: HEADER_PX,
    scrollPaddingStart: HEADER_PX,
    // Lines that are added at the top later leave the others in their place.
    anchorTo: address.at === '' && !isOldest ? 'start' : 'end',
    followOnAppend: isOldest,
    scrollEndThreshold: LINE_PX,
  });
  const toggle = (key: string, isOpen = !open.has(key)) => {
    const next = new Set(open);
    if (isOpen) next.add(key);
    else next.delete(key);
    setOpen(next);
    setCurrent(key);
  };
  const list = { scroll, virtual, lines, setCurrent };
  const marked = useMarked(list, () => setOpen(new Set()));
  useEnd(list);
  const found = lines.findIndex((line) => line.key === current);
  const none = isOldest ? lines.length : -1;
  useLineKeys(list, { focused: found === -1 ? none : found, onClose: (key) => toggle(key, false) });
  const onScroll = () => {
    const { scrollTop = 0, scrollHeight = 0, clientHeight = 0 } = scroll.current ?? {};
    setScrolled((isOldest ? scrollHeight - clientHeight - scrollTop : scrollTop) > LINE_PX);
  };
  const focused = found === -1 && isOldest ? lines.length - 1 : Math.max(0, found);
  return { scroll, virtual, open, toggle, focused, marked, onScroll };
}
