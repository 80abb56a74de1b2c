/** Against the time at which this clock was last believed: `ahead` and `behind` by more than the guard's bound. */
export type ClockState = 'plausible' | 'ahead' | 'behind';

/** Tells a clock that goes on from one that has jumped. */
export interface ClockGuard {
  /**
   * Reads the clock. A plausible time is believed, and later ones are held against it; any other changes nothing.
   *
   * @param otherMs another clock that has a say, such as that of a server: the later of the two counts as ahead
   */
  check(otherMs?: number): ClockReading;
  /** What `check` returned last. */
  last(): ClockReading;
  /** Believes the clock as it stands now, whatever it says. */
  accept(): void;
}

/** Times are ms since the epoch. */
export interface ClockReading {
  readonly state: ClockState;
  readonly clockMs: number;
  /** Whether that is the other clock's, while this process's own is plausible. */
  readonly isOther: boolean;
  /** The clock itself while it is plausible, otherwise the time believed last and what has passed since. */
  readonly plausibleMs: number;
}

export interface ClockGuardOptions {
  /** ms since the epoch. */
  readonly now: () => number;
  /** ms that never go back, whatever is done to the clock. */
  readonly ticks: () => number;
  /** When the clock was believed last, ms since the epoch; `undefined`: never, so that it is believed now. */
  readonly seenMs: number | undefined;
  /** How far the clock may be from what it should say. */
  readonly jumpMsMax: number;
}

export function createClockGuard({ now, ticks, seenMs = now(), jumpMsMax }: ClockGuardOptions): ClockGuard {
  let seen = { ms: seenMs, ticks: ticks() };
  let last = read();

  function read(otherMs = Number.NEGATIVE_INFINITY): ClockReading {
    const ownMs = now();
    const expectedMs = seen.ms + (ticks() - seen.ticks);
    const latestMs = Math.max(ownMs, otherMs);
    if (latestMs - expectedMs > jumpMsMax)
      return {
        state: 'ahead',
        clockMs: latestMs,
        isOther: ownMs - expectedMs <= jumpMsMax,
        plausibleMs: expectedMs,
      };
    if (expectedMs - ownMs > jumpMsMax)
      return { state: 'behind', clockMs: ownMs, isOther: false, plausibleMs: expectedMs };
    seen = { ms: ownMs, ticks: ticks() };
    return { state: 'plausible', clockMs: ownMs, isOther: false, plausibleMs: ownMs };
  }

  function check(otherMs?: number): ClockReading {
    last = read(otherMs);
    return last;
  }

  return {
    check,
    last: () => last,
    accept() {
      seen = { ms: now(), ticks: ticks() };
      check();
    },
  };
}
