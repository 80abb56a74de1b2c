export interface BackOff {
  /** The delay after the first failure. */
  readonly firstMs: number;
  readonly longestMs: number;
  /** 0 to 1: takes up to a half off, so that many callers do not try again at the same moment. */
  readonly random?: () => number;
}

/** Returns how long to wait after so many failures in a row, in ms: none after none, then twice as long each time. */
export function backOffMs(failures: number, { firstMs, longestMs, random = () => 0 }: BackOff): number {
  if (failures === 0) return 0;
  const fullMs = Math.min(firstMs * 2 ** (failures - 1), longestMs);
  return Math.round(fullMs * (1 - random() / 2));
}
