import type { VirtualItem, Virtualizer } from '@tanstack/react-virtual';
import { type RefObject, useEffect, useEffectEvent, useMemo } from 'react';
import { isAt, parseAt } from './at.ts';
import type { Line } from './line.ts';
import type { LineSource } from './source.ts';
import { whenDrawn } from './use-line-keys.ts';

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
