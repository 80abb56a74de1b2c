import { useVirtualizer, type VirtualItem, type Virtualizer } from '@tanstack/react-virtual';
import { type RefObject, useEffect, useEffectEvent, useId, useMemo, useRef, useState } from 'react';
import { useHeld } from '../use-waiting.ts';
import { isAt, parseAt } from './at.ts';
import type { Line } from './line.ts';
import { HEADER_PX, LineHeader } from './line-header.tsx';
import { LineRow } from './line-row.tsx';
import './line.css';
import { type LineActions, Record } from './record.tsx';
import type { LineSource } from './source.ts';
import { useLineKeys, whenDrawn } from './use-line-keys.ts';

interface LineListProps extends LineActions {
  /** Where the lines come from; those of another source begin at the top. */
  readonly source: LineSource;
  readonly lines: readonly Line[];
  /** Name of the line to mark and to scroll to. */
  readonly at: string;
  readonly old: boolean;
  /** Called when the oldest line comes near. */
  readonly onEnd: () => void;
  /** Called when the newest line comes near. */
  readonly onStart: () => void;
  /** Whether the lines are looked at: one is open, or the newest are out of sight. */
  readonly onHeld: (isHeld: boolean) => void;
}

declare module 'react' {
  interface CSSProperties {
    '--columns'?: number;
  }
}

const LINE_PX = 27;
const NEAR_LINES = 50;

/** A virtual list of lines, which open. j and k, or arrow keys, go from one to the next. */
export function LineList({ source, lines, at, old, onEnd, onStart, onHeld, ...actions }: LineListProps) {
  const id = useId();
  const { open, current, setCurrent, toggle, closeAll } = useOpenLines();
  const scroll = useRef<HTMLElement>(null);
  const [isScrolled, setScrolled] = useState(false);
  useHeld(isScrolled || (open.size > 0 && lines.some(({ key }) => open.has(key))), onHeld);
  useTop(scroll, source);
  const virtual = useVirtualizer({
    count: lines.length,
    getScrollElement: () => scroll.current,
    estimateSize: () => LINE_PX,
    getItemKey: (index) => lines[index]?.key ?? index,
    overscan: 12,
    scrollMargin: HEADER_PX,
    scrollPaddingStart: HEADER_PX,
    // Newer lines that are read later leave the others in their place.
    anchorTo: at === '' ? 'start' : 'end',
  });
  const items = virtual.getVirtualItems();
  const marked = useMarked({ scroll, virtual, lines, source, at, old }, (line) => {
    closeAll();
    setCurrent(line.key);
  });
  useEnds({ scroll, items, count: lines.length, onStart, onEnd });

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
      onScroll={({ currentTarget }) => setScrolled(currentTarget.scrollTop > LINE_PX)}
    >
      <LineHeader columns={actions.columns} hasSource={lines[0]?.source !== ''} onColumn={actions.onColumn} />
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
              className={`line level-${line.tone}${line.key === marked?.key ? ' marked' : ''}`}
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

interface MarkedOptions extends Pick<LineListProps, 'lines' | 'source' | 'at' | 'old'> {
  readonly scroll: RefObject<HTMLElement | null>;
  readonly virtual: Virtualizer<HTMLElement, Element>;
}

/** The line that an address names, once its lines are read. The list goes to it once for each source. */
function useMarked(options: MarkedOptions, onMarked: (line: Line) => void): Line | undefined {
  const { scroll, virtual, lines, source, at, old } = options;
  const index = useMemo(() => {
    const place = parseAt(at);
    return place === undefined ? -1 : lines.findIndex((line) => isAt(line, place));
  }, [at, lines]);
  const marked = old ? undefined : lines[index];
  const goTo = useEffectEvent((line: Line) => {
    onMarked(line);
    virtual.scrollToIndex(index, { align: 'center' });
    // The link that led here goes with its record. Elsewhere the focus stays.
    const { activeElement: focused, body } = document;
    const isHere = focused === body || scroll.current?.contains(focused) === true;
    whenDrawn(scroll.current, index, (head) => {
      if (isHere) head.focus({ preventScroll: true });
      head.scrollIntoView({ block: 'nearest' }); // the window may be lower than the list
    });
  });
  // biome-ignore lint/correctness/useExhaustiveDependencies: not again when other lines come
  useEffect(() => {
    if (marked !== undefined) goTo(marked);
  }, [marked?.key, source]);
  return marked;
}

interface EndsOptions extends Pick<LineListProps, 'onStart' | 'onEnd'> {
  readonly scroll: RefObject<HTMLElement | null>;
  readonly items: readonly VirtualItem[];
  readonly count: number;
}

/** Reports that an end of the list comes near. */
function useEnds({ scroll, items, count, onStart, onEnd }: EndsOptions): void {
  const first = items[0]?.index ?? 0;
  const last = items.at(-1)?.index ?? 0;
  useEffect(() => {
    if (last >= count - NEAR_LINES) onEnd();
  }, [last, count, onEnd]);
  // biome-ignore lint/correctness/useExhaustiveDependencies: each time that other lines come into sight
  useEffect(() => {
    // Where it is now: another effect may just have scrolled it.
    if ((scroll.current?.scrollTop ?? 0) < NEAR_LINES * LINE_PX) onStart();
  }, [first, onStart]);
}

/** Goes to the top for each source. */
function useTop(scroll: RefObject<HTMLElement | null>, source: LineSource): void {
  // biome-ignore lint/correctness/useExhaustiveDependencies: the lines are of another source
  useEffect(() => {
    scroll.current?.scrollTo({ top: 0 });
  }, [source]);
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
  return { open, current, setCurrent, toggle, closeAll: () => setOpen(new Set()) };
}
