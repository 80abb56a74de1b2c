import type { VirtualItem, Virtualizer } from '@tanstack/react-virtual';
import { type RefObject, useEffect, useEffectEvent, useMemo, useRef } from 'react';
import { isElsewhere } from '../../../ui/field-key.ts';
import { isAt, type Line, parseAt } from './line.ts';
import type { LineSource } from './read.ts';

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

interface EndOptions {
  readonly scroll: RefObject<HTMLElement | null>;
  readonly oldestFirst: boolean;
  readonly onEnd: () => void;
  readonly items: readonly VirtualItem[];
  readonly count: number;
}

/** Reports that the oldest line comes near. */
export function useEnd({ scroll, items, count, oldestFirst, onEnd }: EndOptions): void {
  const oldest = items.at(oldestFirst ? 0 : -1)?.index ?? 0;
  useEffect(() => {
    // Before the list has gone to its end, the first items are drawn.
    const top = scroll.current?.scrollTop ?? 0;
    const isNear = oldestFirst ? top <= NEAR_LINES * LINE_PX : oldest >= count - NEAR_LINES;
    if (isNear) onEnd();
  }, [scroll, oldest, count, oldestFirst, onEnd]);
}

/** Goes to the newest line for each source. */
export function useNewest(
  scroll: RefObject<HTMLElement | null>,
  source: LineSource,
  oldestFirst: boolean,
): void {
  // biome-ignore lint/correctness/useExhaustiveDependencies: the lines are of another source
  useEffect(() => goToNewest(scroll.current, oldestFirst), [source]);
}

export function goToNewest(list: Element | null, oldestFirst: boolean): void {
  list?.scrollTo({ top: oldestFirst ? list.scrollHeight : 0 });
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
