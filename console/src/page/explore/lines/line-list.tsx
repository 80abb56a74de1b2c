import { useVirtualizer } from '@tanstack/react-virtual';
import { useId, useMemo, useRef, useState } from 'react';
import { usePreference } from '../../../preference.ts';
import type { Line } from './line.ts';
import { HEADER_PX, LineHeader, useColumnWidths } from './line-header.tsx';
import { LineRow } from './line-row.tsx';
import { useHeld } from './use-tail.ts';
import './line.css';
import type { LineSource } from './read.ts';
import { type LineActions, Record } from './record.tsx';
import { LINE_PX, useEnd, useLineKeys, useMarked, useNewest } from './use-list.ts';

interface LineListProps extends LineActions {
  /** Where the lines come from; those of another source begin at the top. */
  readonly source: LineSource;
  readonly lines: readonly Line[];
  /** Name of the line to mark and to scroll to. */
  readonly at: string;
  readonly old: boolean;
  /** Whether the oldest line is at the top. */
  readonly oldestFirst: boolean;
  /** Called when the oldest line comes near. */
  readonly onEnd: () => void;
  /** Whether the lines are looked at: one is open, or the newest are out of sight. */
  readonly onHeld: (isHeld: boolean) => void;
}

/** A virtual list of lines, which open. j and k, or arrow keys, go from one to the next. */
export function LineList(props: LineListProps) {
  const { old, oldestFirst, columns, onColumn, onFilter, pathAround, onAround, linksOf, pathOfTrace } = props;
  const actions = { columns, onColumn, onFilter, pathAround, onAround, linksOf, pathOfTrace };
  const id = useId();
  const { wrap } = usePreference().preference;
  const widths = useColumnWidths();
  const lines = useMemo(
    () => (oldestFirst ? props.lines.toReversed() : props.lines),
    [props.lines, oldestFirst],
  );
  const { scroll, virtual, open, toggle, focused, marked, onScroll } = useListState({ ...props, lines });
  return (
    <section
      className={`line-list${old ? ' is-old' : ''}${wrap ? ' is-wrapped' : ''}`}
      ref={scroll}
      tabIndex={-1}
      style={widths.toStyle(columns)}
      aria-label={oldestFirst ? 'Lines, oldest first' : 'Lines, newest first'}
      onScroll={onScroll}
    >
      <LineHeader {...{ columns, widths, onColumn }} />
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
              <LineRow
                {...{ line, columns, widths, panel }}
                open={isOpen}
                current={item.index === focused}
                onToggle={() => toggle(line.key)}
              />
              {isOpen && <Record id={panel} line={line} {...actions} />}
            </li>
          );
        })}
      </ol>
    </section>
  );
}

/** Which lines are drawn, open, marked and current. */
function useListState({ source, lines, at, old, oldestFirst, onEnd, onHeld }: LineListProps) {
  const { open, current, setOpen, setCurrent, toggle } = useOpenLines();
  const scroll = useRef<HTMLElement>(null);
  const [isScrolled, setScrolled] = useState(false);
  useHeld(isScrolled || (open.size > 0 && lines.some(({ key }) => open.has(key))), onHeld);
  useNewest(scroll, source, oldestFirst);
  const virtual = useVirtualizer({
    count: lines.length,
    getScrollElement: () => scroll.current,
    estimateSize: () => LINE_PX,
    getItemKey: (index) => lines[index]?.key ?? index,
    overscan: 12,
    scrollMargin: HEADER_PX,
    scrollPaddingStart: HEADER_PX,
    // Lines that are added at the top later leave the others in their place.
    anchorTo: at === '' && !oldestFirst ? 'start' : 'end',
    followOnAppend: oldestFirst,
    scrollEndThreshold: LINE_PX,
  });
  const items = virtual.getVirtualItems();
  const marked = useMarked({ scroll, virtual, lines, source, at, old }, (line) => {
    setOpen(new Set());
    setCurrent(line.key);
  });
  useEnd({ scroll, items, count: lines.length, oldestFirst, onEnd });
  const found = lines.findIndex((line) => line.key === current);
  const focused = found === -1 && oldestFirst ? lines.length - 1 : Math.max(0, found);
  useLineKeys({
    ...{ scroll, lines, focused: found === -1 && oldestFirst ? lines.length : found, virtual },
    onFocus: setCurrent,
    onClose: (key) => toggle(key, false),
  });
  const onScroll = () => {
    const { scrollTop = 0, scrollHeight = 0, clientHeight = 0 } = scroll.current ?? {};
    setScrolled((oldestFirst ? scrollHeight - clientHeight - scrollTop : scrollTop) > LINE_PX);
  };
  return { scroll, virtual, open, toggle, focused, marked, onScroll };
}

/** The lines whose records are open, and the line that keys start from. */
function useOpenLines() {
  const [open, setOpen] = useState<ReadonlySet<string>>(new Set());
  const [current, setCurrent] = useState<string>();
  const toggle = (key: string, isOpen = !open.has(key)) => {
    const next = new Set(open);
    if (isOpen) next.add(key);
    else next.delete(key);
    setOpen(next);
    setCurrent(key);
  };
  return { open, current, setOpen, setCurrent, toggle };
}
