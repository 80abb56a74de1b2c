import { formatCount } from './format.ts';

export interface Progress {
  /** @param done of the total @param note further text, such as a rate */
  update(done: number, note: string): void;
  /** Prints a lasting line. */
  log(line: string): void;
  stop(): void;
}

const LINE_EVERY_MS = 5_000;
const TERMINAL_EVERY_MS = 200;
const CLEAR_LINE = '\r\u001b[K';

/**
 * Shows progress on standard error: in one line of a terminal, in a line every few seconds elsewhere.
 *
 * @param total the final value of `done`; 0 if unknown
 */
export function createProgress(label: string, total: number): Progress {
  const { stderr } = process;
  const [everyMs, clear, end] = stderr.isTTY
    ? [TERMINAL_EVERY_MS, CLEAR_LINE, '']
    : [LINE_EVERY_MS, '', '\n'];
  let lastMs = Date.now();
  return {
    update(done, note) {
      if (Date.now() - lastMs < everyMs) return;
      lastMs = Date.now();
      const percent = total > 0 ? ` ${Math.floor((100 * done) / total)}%` : '';
      stderr.write(`${clear}${label}${percent} ${note}${end}`);
    },
    log: (line) => void stderr.write(`${clear}${line}\n`),
    stop() {
      if (clear !== '') stderr.write(clear);
    },
  };
}

/** Returns a function that formats a count as a rate since this call, such as `1,500/s`. */
export function createRate(): (count: number) => string {
  const startMs = performance.now();
  return (count) =>
    `${formatCount(Math.round(count / Math.max((performance.now() - startMs) / 1000, 0.001)))}/s`;
}
