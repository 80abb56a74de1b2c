import { Presets, SingleBar } from 'cli-progress';
import { formatCount } from './format.ts';

export interface Progress {
  /** @param done of the total @param note further text, such as a rate */
  update(done: number, note: string): void;
  /** Prints a lasting line above the bar. */
  log(line: string): void;
  stop(): void;
}

const LINE_EVERY_MS = 5_000;
const CLEAR_LINE = '\r\u001b[K';

/**
 * Shows progress on standard error: a bar on a terminal, a line every few seconds elsewhere.
 *
 * @param total the final value of `done`; 0 if unknown
 */
export function createProgress(label: string, total: number): Progress {
  return process.stderr.isTTY && total > 0 ? createBar(label, total) : createLines(label, total);
}

function createBar(label: string, total: number): Progress {
  const format = `${label} {bar} {percentage}% {note}`;
  const bar = new SingleBar(
    { format, hideCursor: true, stream: process.stderr, etaBuffer: 50 },
    Presets.shades_classic,
  );
  bar.start(total, 0, { note: '' });
  return {
    update: (done, note) => bar.update(done, { note }),
    log: (line) => void process.stderr.write(`${CLEAR_LINE}${line}\n`),
    stop: () => bar.stop(),
  };
}

function createLines(label: string, total: number): Progress {
  let lastMs = Date.now();
  return {
    update(done, note) {
      if (Date.now() - lastMs < LINE_EVERY_MS) return;
      lastMs = Date.now();
      const percent = total > 0 ? ` ${Math.floor((100 * done) / total)}%` : '';
      process.stderr.write(`${label}${percent} ${note}\n`);
    },
    log: (line) => void process.stderr.write(`${line}\n`),
    stop: () => {},
  };
}

/** Returns a function that formats a count as a rate since this call, such as `1,500/s`. */
export function createRate(): (count: number) => string {
  const startMs = performance.now();
  return (count) =>
    `${formatCount(Math.round(count / Math.max((performance.now() - startMs) / 1000, 0.001)))}/s`;
}
