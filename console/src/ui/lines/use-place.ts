import type { Virtualizer } from '@tanstack/react-virtual';
import { type RefObject, useCallback, useEffect, useEffectEvent, useRef } from 'react';
import { formatAt, isAt, parseAt } from './at.ts';
import type { Line } from './line.ts';
import { HEADER_PX } from './line-header.tsx';
import { whenDrawn } from './use-line-keys.ts';
import { LINE_PX } from './use-marked.ts';

/** Where a list is: by its lines, since others may have come when it is shown again. */
export interface ListPlace {
  /** The first line in sight (at.ts); empty at the top, where newer lines are shown as they come. */
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
