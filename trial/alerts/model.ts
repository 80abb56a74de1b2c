import type { Alert } from '../../src/definitions/alert.ts';

type Rules = Pick<Alert, 'forMs' | 'keepFiringForMs' | 'noData' | 'onError' | 'repeatMs'>;

/** What an evaluation found: the names of what holds; nothing at all; or a failure. */
export type Seen = readonly string[] | 'empty' | 'failure';

/** One thing that may be the matter. It knows how long ago each event was, and no time of day. */
interface Matter {
  readonly name: string;
  heldFor: number;
  isFiring: boolean;
  quietFor: number | undefined;
  toldAgo: number | undefined;
}

/**
 * A model of the states of an alert, written apart from src/alerts/state.ts and by another idea: stopwatches instead of instants.
 *
 * @returns moves on to a tick, and returns the messages that leave: `+name` for firing, `-name` for resolved
 */
export function createAlertModel(rules: Rules, most: number) {
  const matters = new Map<string, Matter>();
  const debts = new Map<string, { toldAgo: number }>();
  let clock: number | undefined;
  let misses = 0;

  function age(ms: number): void {
    for (const one of matters.values()) {
      one.heldFor += ms;
      if (one.quietFor !== undefined) one.quietFor += ms;
      if (one.toldAgo !== undefined) one.toldAgo += ms;
    }
    for (const one of debts.values()) one.toldAgo += ms;
  }

  /** Which names hold, do not hold, or are unknown at this tick. */
  function judge(seen: Seen): (name: string) => 'yes' | 'no' | 'unknown' {
    const isFailure = seen === 'failure' || (seen !== 'empty' && seen.length > most);
    misses = isFailure ? misses + 1 : 0;
    if (isFailure) {
      const isReported = rules.onError === 'alert' && misses >= 3;
      return (name) => (name === '!error' && isReported ? 'yes' : 'unknown');
    }
    if (seen !== 'empty') return (name) => (seen.includes(name) ? 'yes' : 'no');
    if (rules.noData === 'alert')
      return (name) => (name === '!none' ? 'yes' : name === '!error' ? 'no' : 'unknown');
    if (rules.noData === 'keep') return (name) => (name === '!error' ? 'no' : 'unknown');
    return () => 'no';
  }

  function end(one: Matter, isMuted: boolean, messages: string[]): void {
    matters.delete(one.name);
    if (!one.isFiring || one.toldAgo === undefined) {
      if (one.isFiring) debts.delete(one.name);
    } else if (isMuted) debts.set(one.name, { toldAgo: one.toldAgo });
    else {
      debts.delete(one.name);
      messages.push(`-${one.name}`);
    }
  }

  function tell(one: Matter, isMuted: boolean, messages: string[]): void {
    const waits = one.name === '!error' ? 0 : rules.forMs;
    if (!one.isFiring && one.heldFor < waits) return;
    one.isFiring = true;
    const isOld = rules.repeatMs !== undefined && (one.toldAgo ?? 0) >= rules.repeatMs;
    if (isMuted || (one.toldAgo !== undefined && !isOld)) return;
    one.toldAgo = 0;
    messages.push(`+${one.name}`);
  }

  return {
    firing: () => [...matters.values()].filter(({ isFiring }) => isFiring).map(({ name }) => name),
    pending: () => [...matters.values()].filter(({ isFiring }) => !isFiring).map(({ name }) => name),
    advance(tick: number, seen: Seen, isMuted: (name: string) => boolean): string[] {
      age(Math.max(0, tick - (clock ?? tick)));
      clock = tick;
      const messages: string[] = [];
      const holds = judge(seen);
      for (const one of [...matters.values()]) {
        const answer = holds(one.name);
        if (answer === 'unknown') continue;
        if (answer === 'yes') {
          one.quietFor = undefined;
          tell(one, isMuted(one.name), messages);
          continue;
        }
        one.quietFor ??= 0;
        if (!one.isFiring || one.quietFor >= rules.keepFiringForMs) end(one, isMuted(one.name), messages);
      }
      const candidates = Array.isArray(seen) ? [...seen, '!error'] : ['!none', '!error'];
      for (const name of candidates) {
        if (matters.has(name) || holds(name) !== 'yes') continue;
        const toldAgo = debts.get(name)?.toldAgo;
        const one = { name, heldFor: 0, isFiring: false, quietFor: undefined, toldAgo };
        matters.set(name, one);
        tell(one, isMuted(name), messages);
      }
      const quiet = [...matters.values()].filter(({ quietFor }) => quietFor !== undefined);
      quiet.sort((a, b) => (b.quietFor ?? 0) - (a.quietFor ?? 0));
      for (const one of quiet.slice(0, Math.max(0, matters.size - most)))
        end(one, isMuted(one.name), messages);
      for (const name of [...debts.keys()]) {
        if (matters.get(name)?.isFiring) debts.delete(name);
        else if (!matters.has(name) && !isMuted(name)) {
          debts.delete(name);
          messages.push(`-${name}`);
        }
      }
      while (debts.size > most) debts.delete(debts.keys().next().value ?? '');
      return messages;
    },
  };
}
