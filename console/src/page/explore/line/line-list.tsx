import { useVirtualizer } from '@tanstack/react-virtual';
import { useEffect, useId, useRef, useState } from 'react';
import { atOf, type Line } from './line.ts';
import { HEADER_PX, LineHeader } from './line-header.tsx';
import { LineRow } from './line-row.tsx';
import './line.css';
import { type LineActions, Record } from './record.tsx';
import { useLineKeys } from './use-line-keys.ts';

interface LineListProps extends LineActions {
  readonly lines: readonly Line[];
  /** Of the line to mark and to scroll to. */
  readonly at: string;
  readonly old: boolean;
  /** Called when the end comes near. */
  readonly onEnd: () => void;
  /** Whether the newest lines are out of sight. */
  readonly onScrolled: (isScrolled: boolean) => void;
}

declare module 'react' {
  interface CSSProperties {
    '--columns'?: number;
  }
}

const LINE_PX = 27;
const NEAR_LINES = 50;

/** A virtual list of lines, which open. j and k, or arrow keys, go from one to the next. */
export function LineList({ lines, at, old, onEnd, onScrolled, ...actions }: LineListProps) {
  const id = useId();
  const { open, current, setCurrent, toggle } = useOpenLines();
  const scroll = useRef<HTMLElement>(null);
  const virtual = useVirtualizer({
    count: lines.length,
    getScrollElement: () => scroll.current,
    estimateSize: () => LINE_PX,
    getItemKey: (index) => lines[index]?.key ?? index,
    overscan: 12,
    scrollMargin: HEADER_PX,
    scrollPaddingStart: HEADER_PX,
  });
  const items = virtual.getVirtualItems();
  const last = items.at(-1)?.index ?? 0;
  useEffect(() => {
    if (last >= lines.length - NEAR_LINES) onEnd();
  }, [last, lines.length, onEnd]);

  const found = at === '' ? -1 : lines.findIndex((line) => atOf(line) === at);
  const marked = lines[found]?.key;
  // Once for each line that an address names.
  // biome-ignore lint/correctness/useExhaustiveDependencies: see above
  useEffect(() => {
    if (marked === undefined) return;
    setCurrent(marked);
    virtual.scrollToIndex(found, { align: 'center' });
  }, [marked]);

  const focused = Math.max(
    0,
    lines.findIndex((line) => line.key === current),
  );
  useLineKeys({
    ...{ scroll, lines, focused: current === undefined ? -1 : focused, virtual },
    onFocus: setCurrent,
    onClose: (key) => toggle(key, false),
  });
  return (
    <section
      className={old ? 'line-list old' : 'line-list'}
      ref={scroll}
      tabIndex={-1}
      style={{ '--columns': actions.columns.length }}
      aria-label="Lines, newest first"
      onScroll={({ currentTarget }) => onScrolled(currentTarget.scrollTop > LINE_PX)}
    >
      <LineHeader columns={actions.columns} onColumn={actions.onColumn} />
      <ol style={{ height: virtual.getTotalSize() }}>
        {items.map((item) => {
          const line = lines[item.index];
          if (line === undefined) return null;
          const isOpen = open.has(line.key);
          const panel = `${id}-${item.index}`;
          return (
            <li
              key={item.key}
              data-index={item.index}
              ref={virtual.measureElement}
              className={`line level-${line.level ?? 'none'}${line.key === marked ? ' marked' : ''}`}
              style={{ transform: `translateY(${item.start - HEADER_PX}px)` }}
            >
              <LineRow
                line={line}
                columns={actions.columns}
                open={isOpen}
                current={item.index === focused}
                panel={panel}
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
  return { open, current, setCurrent, toggle };
}
