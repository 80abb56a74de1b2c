import type { VirtualItem, Virtualizer } from '@tanstack/react-virtual';
import { type RefObject, useCallback, useEffect, useEffectEvent, useMemo, useRef } from 'react';
import { isElsewhere } from '../field-key.ts';
import { formatAt, isAt, type Line, parseAt } from './line.ts';
import { HEADER_PX } from './line-header.tsx';
import type { LineSource } from './read.ts';

/** Where a list is: by its lines, since others may have come when it is shown again. */
export interface ListPlace {
  /** The first line in sight (line.ts); empty at the top, where newer lines are shown as they come. */
  readonly at: string;
  /** How far that line is above the top. */
  readonly offsetPx: number;
  /** Keys of the lines that are open. */
  readonly open: readonly string[];
  /** Key of the line that keys start from. */
  readonly current: string | undefined;
}

interface PlaceOptions {
  readonly scroll: RefObject<HTMLElement | null>;
  readonly virtual: Virtualizer<HTMLElement, Element>;
  readonly lines: readonly Line[];
  readonly old: boolean;
  readonly place: ListPlace | undefined;
  readonly onPlace: ((place: ListPlace) => void) | undefined;
  readonly open: ReadonlySet<string>;
  readonly current: string | undefined;
}

/** Until scrolling has ended; browsers bound how often a page may write its state. */
const SETTLED_MS = 250;
const OPEN_MAX = 20;

/** Goes to the place of a list once its line is there, and reports later ones. @returns a function to call on each scroll */
export function usePlace(options: PlaceOptions, onRestore: (place: ListPlace) => void): () => void {
  const { lines, old, place, onPlace, open, current } = options;
  const latest = useRef(options);
  latest.current = options;
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  const isSettled = useRef(true);
  const report = useCallback(() => {
    clearTimeout(timer.current);
    timer.current = setTimeout(() => {
      const now = isSettled.current ? findPlace(latest.current) : undefined;
      if (now !== undefined) latest.current.onPlace?.(now);
    }, SETTLED_MS);
  }, []);
  // Another search has its own place: what was to be reported would be kept for it.
  // biome-ignore lint/correctness/useExhaustiveDependencies: another `onPlace` is that of another search
  useEffect(() => () => clearTimeout(timer.current), [onPlace]);
  // biome-ignore lint/correctness/useExhaustiveDependencies: lines that are opened or closed change the place
  useEffect(() => report(), [open, current, report]);

  const restore = useEffectEvent((to: ListPlace) => {
    const { scroll, virtual } = latest.current;
    const index = findIndex(lines, to);
    isSettled.current = true;
    onRestore(to);
    if (index < 0) return;
    virtual.scrollToIndex(index, { align: 'start' });
    whenDrawn(scroll.current, index, (head) => {
      const list = scroll.current;
      if (list === null) return;
      const { activeElement: focused, body } = document;
      if (focused === body) focusLine(list, lines, to);
      // Records above it may have been opened meanwhile.
      const aboveIsPx = head.getBoundingClientRect().top - list.getBoundingClientRect().top - HEADER_PX;
      list.scrollBy({ top: aboveIsPx + to.offsetPx });
    });
  });
  const isReady = !old && lines.length > 0;
  useEffect(() => {
    isSettled.current = place === undefined;
    if (place !== undefined && isReady) restore(place);
  }, [place, isReady]);
  return report;
}

function findIndex(lines: readonly Line[], { at }: ListPlace): number {
  const line = parseAt(at);
  return line === undefined ? -1 : lines.findIndex((one) => isAt(one, line));
}

function focusLine(list: HTMLElement, lines: readonly Line[], { current }: ListPlace): void {
  const index = lines.findIndex(({ key }) => key === current);
  list.querySelector<HTMLElement>(`li[data-index="${index}"] > .line-head`)?.focus({ preventScroll: true });
}

function findPlace({ scroll, virtual, lines, open, current, old }: PlaceOptions): ListPlace | undefined {
  const list = scroll.current;
  if (list === null || old) return undefined;
  // Items begin below the header, which covers the first pixels of the list.
  const top = list.scrollTop + HEADER_PX;
  const first = virtual.getVirtualItems().find(({ end }) => end > top);
  const line = first === undefined ? undefined : lines[first.index];
  if (first === undefined || line === undefined) return undefined;
  return {
    at: list.scrollTop < LINE_PX ? '' : formatAt(line),
    offsetPx: Math.round(top - first.start),
    open: [...open].slice(0, OPEN_MAX),
    current,
  };
}

export const LINE_PX = 27;

interface MarkedOptions {
  readonly source: LineSource;
  readonly lines: readonly Line[];
  readonly at: string;
  readonly old: boolean;
  readonly scroll: RefObject<HTMLElement | null>;
  readonly virtual: Virtualizer<HTMLElement, Element>;
}

/** The line that an address names, once its lines are read. The list goes to it once for each source. */
export function useMarked(options: MarkedOptions, onMarked: (line: Line) => void): Line | undefined {
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

const NEAR_LINES = 50;

interface EndsOptions {
  readonly onStart: () => void;
  readonly onEnd: () => void;
  readonly scroll: RefObject<HTMLElement | null>;
  readonly items: readonly VirtualItem[];
  readonly count: number;
}

/** Reports that an end of the list comes near. */
export function useEnds({ scroll, items, count, onStart, onEnd }: EndsOptions): void {
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
export function useTop(scroll: RefObject<HTMLElement | null>, source: LineSource): void {
  // biome-ignore lint/correctness/useExhaustiveDependencies: the lines are of another source
  useEffect(() => {
    scroll.current?.scrollTo({ top: 0 });
  }, [source]);
}

interface LineKeyOptions {
  readonly scroll: RefObject<HTMLElement | null>;
  readonly lines: readonly Line[];
  /** Index of the current line; -1: none yet. */
  readonly focused: number;
  readonly virtual: Virtualizer<HTMLElement, Element>;
  readonly onFocus: (key: string) => void;
  readonly onClose: (key: string) => void;
}

/** Keys that go from line to line: j and k anywhere on the page but in fields, arrow keys on a line; Escape closes the line's record. */
export function useLineKeys(options: LineKeyOptions): void {
  const latest = useRef(options);
  latest.current = options;
  useEffect(() => {
    const onKeyDown = (event: KeyboardEvent) => {
      if (isElsewhere(event) || !(event.target instanceof Element)) return;
      if (event.key === 'Escape') closeRecord(event.target, latest.current);
      else goToLine(event, event.target, latest.current);
    };
    document.addEventListener('keydown', onKeyDown);
    return () => document.removeEventListener('keydown', onKeyDown);
  }, []);
}

/** The record that the focus is in, or the line of which has it. */
function closeRecord(target: Element, { scroll, lines, onClose }: LineKeyOptions): void {
  const item = scroll.current?.contains(target) === true ? target.closest('li') : null;
  const line = lines[Number(item?.dataset['index'])];
  if (line === undefined) return;
  onClose(line.key);
  item?.querySelector<HTMLElement>('.line-head')?.focus();
}

function goToLine(event: KeyboardEvent, target: Element, options: LineKeyOptions): void {
  const { scroll, lines, focused, virtual, onFocus } = options;
  const isHead = target.classList.contains('line-head');
  const to = findTarget(event.key, isHead, { focused, count: lines.length });
  const line = to === undefined ? undefined : lines[to];
  if (to === undefined || line === undefined) return;
  event.preventDefault();
  onFocus(line.key);
  virtual.scrollToIndex(to, { align: 'auto' });
  whenDrawn(scroll.current, to, (head) => head.focus({ preventScroll: true }));
}

/** Goes from a field to the lines, whose keys then work at once. */
export function goToLines(field: HTMLElement): void {
  field.blur();
  document.querySelector<HTMLElement>('.line-list')?.focus({ preventScroll: true });
}

function findTarget(
  key: string,
  isHead: boolean,
  { focused, count }: { readonly focused: number; readonly count: number },
): number | undefined {
  const next = Math.min(count - 1, focused + 1);
  const before = Math.max(0, focused - 1);
  if (key === 'j') return next;
  if (key === 'k') return before;
  return isHead ? { ArrowDown: next, ArrowUp: before, Home: 0, End: count - 1 }[key] : undefined;
}

const FRAMES_MAX = 10;

/** A line that comes into sight is drawn some frames later. @param act called with the line, without its record */
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
