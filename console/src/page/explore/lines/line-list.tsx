import { useVirtualizer, type Virtualizer } from '@tanstack/react-virtual';
import {
  type RefObject,
  useEffect,
  useEffectEvent,
  useId,
  useLayoutEffect,
  useMemo,
  useRef,
  useState,
} from 'react';
import { formatTimeMs, fromMicros, showText } from '../../../format/show.ts';
import { usePreference, useZone } from '../../../preference.ts';
import { useExploring } from '../exploring.ts';
import { formatAt, formatValue, LINES_MAX, type Line, valueAt } from './line.ts';
import { type ColumnWidths, HEADER_PX, LineHeader, useColumnWidths } from './line-header.tsx';
import './line.css';
import { ownMember } from '../../../format/values.ts';
import { isElsewhere, useKeyDown } from '../../../ui/field-key.ts';
import type { ExploreAddress } from '../address.ts';
import { Record } from './record.tsx';

/** Whether the lines are looked at: one is open, or the newest are out of sight. */
type OnHeld = (isHeld: boolean) => void;

/** A virtual list of lines, which open. j and k, or arrow keys, go from one to the next. */
export function LineList({ onHeld }: { readonly onHeld: OnHeld }) {
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

function useListState(lines: readonly Line[], onHeld: OnHeld) {
  const { address, lines: read } = useExploring();
  const isOldest = address.order === 'oldest';
  const [open, setOpen] = useState<ReadonlySet<string>>(new Set());
  const [current, setCurrent] = useState<string>();
  const [isScrolled, setScrolled] = useState(false);
  const scroll = useRef<HTMLElement>(null);
  const isHeld = isScrolled || (open.size > 0 && lines.some(({ key }) => open.has(key)));
  // Before the next lines come. A list that is gone is not looked at.
  useLayoutEffect(() => {
    onHeld(isHeld);
    return () => onHeld(false);
  }, [isHeld, onHeld]);
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
  useLineKeys(list, found === -1 ? none : found, (key) => toggle(key, false));
  const onScroll = () => {
    const { scrollTop = 0, scrollHeight = 0, clientHeight = 0 } = scroll.current ?? {};
    setScrolled((isOldest ? scrollHeight - clientHeight - scrollTop : scrollTop) > LINE_PX);
  };
  const focused = found === -1 && isOldest ? lines.length - 1 : Math.max(0, found);
  return { scroll, virtual, open, toggle, focused, marked, onScroll };
}

const LINE_PX = 27;

interface List {
  readonly scroll: RefObject<HTMLElement | null>;
  readonly virtual: Virtualizer<HTMLElement, Element>;
  /** As they are shown. */
  readonly lines: readonly Line[];
  readonly setCurrent: (key: string) => void;
}

/** The line that the address names, once its lines are read. The list goes to it once for each search. */
function useMarked(list: List, onMarked: () => void): Line | undefined {
  const { scroll, lines } = list;
  const { address, lines: read } = useExploring();
  const { at } = address;
  const index = useMemo(
    () => (at === '' ? -1 : lines.findIndex((line) => formatAt(line) === at)),
    [at, lines],
  );
  const marked = read.isOld ? undefined : lines[index];
  const goToMarked = useEffectEvent(() => {
    onMarked();
    // The link that led here goes with its record. Elsewhere the focus stays.
    const { activeElement: focused, body } = document;
    const isHere = focused === body || scroll.current?.contains(focused) === true;
    goTo(list, index, 'center', (head) => {
      if (isHere) head.focus({ preventScroll: true });
      head.scrollIntoView({ block: 'nearest' }); // the window may be lower than the list
    });
  });
  // biome-ignore lint/correctness/useExhaustiveDependencies: not again when other lines come
  useEffect(() => {
    if (marked !== undefined) goToMarked();
  }, [marked?.key, read.search]);
  return marked;
}

const NEAR_LINES = 50;

/** Reads on when the oldest line comes near, until the list is full; after a stop or a failure only on request. */
function useEnd({ scroll, virtual, lines }: List): void {
  const { address, lines: read } = useExploring();
  const { state, isOld, hasMore, more } = read;
  const isOldest = address.order === 'oldest';
  const count = lines.length;
  const canRead = (state.kind === 'done' || state.kind === 'idle') && !isOld && hasMore && count < LINES_MAX;
  const oldest = virtual.getVirtualItems().at(isOldest ? 0 : -1)?.index ?? 0;
  const readOn = useEffectEvent(more);
  useEffect(() => {
    // Before the list has gone to its end, the first items are drawn.
    const top = scroll.current?.scrollTop ?? 0;
    const isNear = isOldest ? top <= NEAR_LINES * LINE_PX : oldest >= count - NEAR_LINES;
    if (isNear && canRead) readOn();
  }, [scroll, oldest, count, isOldest, canRead]);
}

export function goToNewest(list: Element | null, order: ExploreAddress['order']): void {
  list?.scrollTo({ top: order === 'oldest' ? list.scrollHeight : 0 });
}

/** Keys of lines: j and k anywhere but in fields, arrow keys on a line; Escape closes its record. @param focused may be beyond */
function useLineKeys(list: List, focused: number, onClose: (key: string) => void): void {
  const { scroll, lines } = list;
  useKeyDown((event) => {
    const { key, target } = event;
    if (isElsewhere(event) || !(target instanceof Element)) return;
    if (key === 'Escape') {
      // The record that the focus is in, or the line of which has it.
      const item = scroll.current?.contains(target) === true ? target.closest('li') : null;
      const line = lines[Number(item?.dataset['index'])];
      if (line === undefined) return;
      onClose(line.key);
      item?.querySelector<HTMLElement>('.line-head')?.focus();
      return;
    }
    const [next, before] = [Math.min(lines.length - 1, focused + 1), Math.max(0, focused - 1)];
    const keys = { j: next, k: before };
    const onLine = { ...keys, ArrowDown: next, ArrowUp: before, Home: 0, End: lines.length - 1 };
    const to = ownMember<number>(target.classList.contains('line-head') ? onLine : keys, key);
    if (to === undefined) return;
    event.preventDefault();
    goTo(list, to, 'auto', (head) => head.focus({ preventScroll: true }));
  });
}

/** Goes from a field to the lines, whose keys then work at once. */
export function goToLines(field: HTMLElement): void {
  field.blur();
  document.querySelector<HTMLElement>('.line-list')?.focus({ preventScroll: true });
}

/** Makes a line the current one and brings it into sight. @param act called with the line, without its record */
function goTo(list: List, index: number, align: 'center' | 'auto', act: (head: HTMLElement) => void): void {
  const { scroll, virtual, lines, setCurrent } = list;
  const line = lines[index];
  if (line === undefined) return;
  setCurrent(line.key);
  virtual.scrollToIndex(index, { align });
  whenDrawn(scroll.current, index, act);
}

const FRAMES_MAX = 10;

/** A line that comes into sight is drawn some frames later. */
function whenDrawn(
  list: HTMLElement | null,
  index: number,
  act: (head: HTMLElement) => void,
  frames = 0,
): void {
  const head = list?.querySelector<HTMLElement>(`li[data-index="${index}"] > .line-head`);
  if (head != null) act(head);
  else if (frames < FRAMES_MAX) requestAnimationFrame(() => whenDrawn(list, index, act, frames + 1));
}
