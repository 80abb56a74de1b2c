import { useCallback, useEffect, useLayoutEffect, useRef, useState } from 'react';

interface WaitingOptions<Item> {
  /** The list: what it has does not wait. */
  readonly shown: readonly Item[];
  readonly keyOf: (item: Item) => string;
  /** Items wait while the list is looked at: they would move it. */
  readonly held: boolean;
  /** Both in the order of the list. */
  readonly merge: (kept: readonly Item[], found: readonly Item[]) => readonly Item[];
  readonly onItems: (items: readonly Item[]) => void;
}

export interface Waiting<Item> {
  readonly count: number;
  /** Adds items to the list, or lets them wait. */
  readonly take: (items: readonly Item[]) => void;
  /** Adds those that wait; further ones wait on. */
  readonly show: () => void;
  readonly drop: () => void;
}

/** New items of a list that follows them. They are added once the list is no longer held. */
export function useWaiting<Item>(options: WaitingOptions<Item>): Waiting<Item> {
  const [waiting, setWaiting] = useState<readonly Item[]>([]);
  const { held, merge, onItems } = options;
  const latest = useRef(options);
  latest.current = options;
  const take = useCallback(
    (items: readonly Item[]) => {
      const { held: isHeld, shown, keyOf } = latest.current;
      if (!isHeld) return onItems(items);
      const known = new Set(shown.map(keyOf));
      setWaiting((before) =>
        merge(
          before,
          items.filter((item) => !known.has(keyOf(item))),
        ),
      );
    },
    [merge, onItems],
  );
  const show = useCallback(() => {
    onItems(waiting);
    setWaiting([]);
  }, [waiting, onItems]);
  const drop = useCallback(() => setWaiting([]), []);
  useEffect(() => {
    if (!held && waiting.length > 0) show();
  }, [held, waiting, show]);
  return { count: waiting.length, take, show, drop };
}

/** Reports whether a list is looked at, before its next items come. A list that is gone is not. */
export function useHeld(isHeld: boolean, onHeld: (isHeld: boolean) => void): void {
  useLayoutEffect(() => onHeld(isHeld), [isHeld, onHeld]);
  useEffect(() => () => onHeld(false), [onHeld]);
}
