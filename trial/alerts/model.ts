import type { Alert } from '../../src/definitions/alert.ts';

type Rules = Pick<Alert, 'everyMs' | 'forMs' | 'keepFiringForMs' | 'noData' | 'onError'>;

/** What an evaluation found: the names of what holds; nothing at all; or a failure. */
export type Seen = readonly string[] | 'empty' | 'failure';

/** The name of what has no labels: the whole answer, none, or a query that fails. */
export const WHOLE = '';

/** One thing that may be the matter. It knows how long ago each event was, and no time of day. */
interface Matter {
  readonly name: string;
  /** Why it holds. */
  cause: 'rows' | 'none' | 'error';
  heldFor: number;
  isFiring: boolean;
  quietFor: number | undefined;
  /** Who must hold it open. */
  readonly heard: Set<string>;
}

/** One tick. */
export interface Tick {
  /** ms since the last one; negative: the clock was set back. */
  readonly afterMs: number;
  readonly seen: Seen;
  readonly isMuted: (name: string) => boolean;
  readonly receivers: readonly string[];
}

/**
 * A model of an alert, written apart from src/alerts/state.ts and by another idea: stopwatches instead of instants, and
 * who must hold what open instead of messages.
 */
export function createAlertModel(rules: Rules, most: number) {
  const matters = new Map<string, Matter>();
  let misses = 0;

  function age(afterMs: number): void {
    const isGap = afterMs > 2 * rules.everyMs;
    for (const one of matters.values()) {
      const ms = Math.max(0, isGap ? rules.everyMs : afterMs);
      one.heldFor += ms;
      if (one.quietFor !== undefined) one.quietFor += ms;
    }
  }

  /** What holds at this tick, and which causes nobody knows about. */
  function judge(seen: Seen): { holds: Map<string, Matter['cause']>; unknown: Matter['cause'][] } {
    const isFailure = seen === 'failure' || (seen !== 'empty' && seen.length > most);
    misses = isFailure ? misses + 1 : 0;
    if (isFailure) {
      const isReported = rules.onError === 'alert' && misses >= 3;
      return {
        holds: new Map(isReported ? [[WHOLE, 'error']] : []),
        unknown: isReported ? ['rows', 'none'] : ['rows', 'none', 'error'],
      };
    }
    if (seen !== 'empty') return { holds: new Map(seen.map((name) => [name, 'rows'])), unknown: [] };
    if (rules.noData === 'alert') return { holds: new Map([[WHOLE, 'none']]), unknown: ['rows'] };
    return { holds: new Map(), unknown: rules.noData === 'keep' ? ['rows', 'none'] : [] };
  }

  const list = (isFiring: boolean) =>
    [...matters.values()].filter((one) => one.isFiring === isFiring).map(({ name }) => name);

  return {
    firing: () => list(true).toSorted(),
    pending: () => list(false).toSorted(),
    /** What a receiver must hold open. */
    openAt: (receiver: string) =>
      [...matters.values()].filter(({ heard }) => heard.has(receiver)).map(({ name }) => name),
    /** Forgets all: the alert is another one, or gone. */
    clear() {
      matters.clear();
      misses = 0;
    },
    advance({ afterMs, seen, isMuted, receivers }: Tick): void {
      age(afterMs);
      const { holds, unknown } = judge(seen);
      for (const [name, cause] of holds)
        if (!matters.has(name))
          matters.set(name, {
            ...{ name, cause, heldFor: 0, isFiring: false, quietFor: undefined, heard: new Set() },
          });
      for (const one of [...matters.values()]) {
        for (const receiver of one.heard) if (!receivers.includes(receiver)) one.heard.delete(receiver);
        const cause = holds.get(one.name);
        if (cause !== undefined) {
          one.quietFor = undefined;
          one.cause = cause;
          if (one.heldFor >= (cause === 'error' ? 0 : rules.forMs)) one.isFiring = true;
          if (one.isFiring && !isMuted(one.name)) for (const name of receivers) one.heard.add(name);
        } else if (!unknown.includes(one.cause)) {
          one.quietFor ??= 0;
          if (!one.isFiring || one.quietFor >= rules.keepFiringForMs) matters.delete(one.name);
        }
      }
      const quiet = [...matters.values()].filter(({ quietFor }) => quietFor !== undefined);
      quiet.sort((a, b) => (b.quietFor ?? 0) - (a.quietFor ?? 0));
      for (const { name } of quiet.slice(0, Math.max(0, matters.size - most))) matters.delete(name);
    },
  };
}
