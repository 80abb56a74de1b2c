/** Compared with the last accepted time: `ahead` and `behind` by more than the guard's bound. */
export type ClockState = 'plausible' | 'ahead' | 'behind';

/** Detects a clock that has jumped. */
export interface ClockGuard {
  /**
   * Reads the clock. A plausible time is accepted, and later times are compared with it; any other changes nothing.
   *
   * @param otherMs another clock, such as that of a server: the later of the two decides whether the time is ahead
   */
  check(otherMs?: number): ClockReading;
  /** Returns the last result of `check`. */
  last(): ClockReading;
  /** The time that counts instead of the clock's, since that has jumped ahead; `undefined`: the clock's. */
  correctedMs(): number | undefined;
  /** Accepts the present time of the clock, plausible or not. */
  accept(): void;
}

/** Times are ms since the epoch. */
export interface ClockReading {
  readonly state: ClockState;
  readonly clockMs: number;
  /** Whether `clockMs` is the other clock's, while this process's own is plausible. */
  readonly isOther: boolean;
  /** Returns the clock's time if it is plausible, otherwise the last accepted time plus the ticks since. */
  readonly plausibleMs: number;
}

export interface ClockGuardOptions {
  /** ms since the epoch. */
  readonly now: () => number;
  /** Monotonic ms. */
  readonly ticks: () => number;
  /** The last accepted time, ms since the epoch; `undefined`: none, so the present time is accepted. */
  readonly seenMs: number | undefined;
  /** How far the clock may be from the expected time. */
  readonly jumpMsMax: number;
}

export function createClockGuard({ now, ticks, seenMs = now(), jumpMsMax }: ClockGuardOptions): ClockGuard {
  let seen = { ms: seenMs, ticks: ticks() };
  let last = read();

  function read(otherMs = Number.NEGATIVE_INFINITY): ClockReading {
    const ownMs = now();
    const expectedMs = seen.ms + (ticks() - seen.ticks);
    const clockMs = Math.max(ownMs, otherMs);
    const isOther = ownMs - expectedMs <= jumpMsMax;
    if (clockMs - expectedMs > jumpMsMax)
      return { state: 'ahead', clockMs, isOther, plausibleMs: expectedMs };
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
    correctedMs: () => (last.state === 'ahead' ? last.plausibleMs : undefined),
    accept() {
      seen = { ms: now(), ticks: ticks() };
      check();
    },
  };
}
