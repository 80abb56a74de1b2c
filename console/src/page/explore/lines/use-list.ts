import type { Virtualizer } from '@tanstack/react-virtual';
import { type RefObject, useEffect, useEffectEvent, useMemo } from 'react';
import { ownMember } from '../../../format/own.ts';
import { isElsewhere } from '../../../ui/field-key.ts';
import type { ExploreAddress } from '../address.ts';
import { useExploring } from '../exploring.ts';
import { formatAt, LINES_MAX, type Line } from './line.ts';

export const LINE_PX = 27;

interface List {
  readonly scroll: RefObject<HTMLElement | null>;
  readonly virtual: Virtualizer<HTMLElement, Element>;
  /** As they are shown. */
  readonly lines: readonly Line[];
  readonly setCurrent: (key: string) => void;
}

/** The line that the address names, once its lines are read. The list goes to it once for each search. */
export function useMarked(list: List, onMarked: () => void): Line | undefined {
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
export function useEnd({ scroll, virtual, lines }: List): void {
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

interface KeyOptions {
  /** Index of the current line; beyond the first or last one: none yet. */
  readonly focused: number;
  readonly onClose: (key: string) => void;
}

/** Keys that go from line to line: j and k anywhere on the page but in fields, arrow keys on a line; Escape closes the line's record. */
export function useLineKeys(list: List, { focused, onClose }: KeyOptions): void {
  const { scroll, lines } = list;
  const onKeyDown = useEffectEvent((event: KeyboardEvent) => {
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
  useEffect(() => {
    const listener = (event: KeyboardEvent) => onKeyDown(event);
    document.addEventListener('keydown', listener);
    return () => document.removeEventListener('keydown', listener);
  }, []);
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
