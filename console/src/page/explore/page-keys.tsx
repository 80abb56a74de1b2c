import { useEffect } from 'react';
import { ownMember } from '../../format/own.ts';
import { hasLater, shiftRange, type TimeRange, zoomOut } from '../../format/range.ts';
import { isElsewhere } from '../../ui/field-key.ts';
import { CloseAction, Dialog } from '../../ui/overlay/dialog.tsx';
import type { Exploring } from './exploring.ts';
import { rangeOf, toAsked } from './search/search.ts';

/** The keys of the page but those of its lines. */
export function usePageKeys({ address, change }: Exploring, onHelp: () => void): void {
  const range = rangeOf(address);
  const onRange = (next: TimeRange) => change(toAsked(next));
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

const KEYS: readonly (readonly [keys: readonly string[], meaning: string])[] = [
  [['/'], 'write a search; Enter runs it and goes to the lines'],
  [['j', 'k'], 'next or previous line; on a line also ↓ and ↑'],
  [['Enter'], 'open the line, or close it'],
  [['Esc'], 'close what is open, or leave a field'],
  [['Tab'], 'reach everything else: values of an open line have a menu'],
  [
    ['←', '→'],
    'on the chart: walk through the time buckets; with Shift select some, Enter zooms to them, m marks them to compare',
  ],
  [['[', ']'], 'the range of time before, or after'],
  [['o'], 'a range of twice the length'],
  [['?'], 'this list'],
];

/** The keyboard shortcuts of the page. */
export function KeyHelp({ onClose }: { readonly onClose: () => void }) {
  return (
    <Dialog title="Shortcuts" onClose={onClose}>
      <dl className="explore-keys">
        {KEYS.map(([keys, meaning]) => (
          <div key={meaning}>
            <dt>
              {keys.map((key) => (
                <kbd key={key}>{key}</kbd>
              ))}
            </dt>
            <dd>{meaning}</dd>
          </div>
        ))}
      </dl>
      <CloseAction onClose={onClose} />
    </Dialog>
  );
}
