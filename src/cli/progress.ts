import { Presets, SingleBar } from 'cli-progress';

export interface Progress {
  /** @param done of the total; @param note what else there is to say, such as a rate */
  update(done: number, note: string): void;
  /** A line that stays, above the bar. */
  log(line: string): void;
  stop(): void;
}

const LINE_EVERY_MS = 5_000;
const CLEAR_LINE = '\r\u001b[K';

/**
 * Progress on standard error: a bar on a terminal, a line every few seconds elsewhere.
 *
 * @param total what `done` counts up to; 0 where nobody knows
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

/** Counts how many a second there have been since it was made. */
export function createRate(): (count: number) => string {
  const startMs = performance.now();
  return (count) =>
    `${Math.round(count / Math.max((performance.now() - startMs) / 1000, 0.001)).toLocaleString('en')}/s`;
}
