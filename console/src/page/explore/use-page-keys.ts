import { useEffect } from 'react';
import { ownMember } from '../../format/own.ts';
import { hasLater, shiftRange, zoomOut } from '../../format/range-move.ts';
import type { TimeRange } from '../../format/time-range.ts';
import { isElsewhere } from '../../ui/field-key.ts';

interface PageKeyOptions {
  readonly range: TimeRange;
  readonly onRange: (range: TimeRange) => void;
  readonly onHelp: () => void;
}

/** The keys of the page (key-help.tsx) but those of its lines. */
export function usePageKeys({ range, onRange, onHelp }: PageKeyOptions): void {
  const keys: Readonly<Record<string, () => void>> = {
    '?': onHelp,
    '/': () => document.querySelector<HTMLElement>('.explore-query input')?.focus(),
    '[': () => onRange(shiftRange(range, 'earlier', Date.now())),
    ']': () => {
      if (hasLater(range, Date.now())) onRange(shiftRange(range, 'later', Date.now()));
    },
    o: () => onRange(zoomOut(range, Date.now())),
  };
  useEffect(() => {
    const onKeyDown = (event: KeyboardEvent) => {
      const act = isElsewhere(event) ? undefined : ownMember(keys, event.key);
      if (act === undefined) return;
      event.preventDefault();
      act();
    };
    document.addEventListener('keydown', onKeyDown);
    return () => document.removeEventListener('keydown', onKeyDown);
  });
}
