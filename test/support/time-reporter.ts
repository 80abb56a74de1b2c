import type { Reporter, TestModule } from 'vitest/node';

const SLOWEST = 10;
// A run of fewer files is of those that somebody works on.
const FILES_MIN = 20;

interface FileTime {
  readonly ring: string;
  readonly path: string;
  readonly seconds: number;
}

/**
 * Prints the time of each ring at the end of a run, and the slowest files. A file's time includes loading it, where its service is
 * started; files overlap, so the sum is longer than the run.
 */
export default class TimeReporter implements Reporter {
  readonly #files: FileTime[] = [];

  onTestModuleEnd(module: TestModule): void {
    const { collectDuration, setupDuration, duration } = module.diagnostic();
    const seconds = (collectDuration + setupDuration + duration) / 1_000;
    this.#files.push({ ring: module.project.name, path: module.relativeModuleId, seconds });
  }

  onTestRunEnd(): void {
    if (this.#files.length >= FILES_MIN) process.stderr.write(describeTimes(this.#files));
  }
}

/** The lines of the table. */
function describeTimes(files: readonly FileTime[]): string {
  const rings = [...Map.groupBy(files, ({ ring }) => ring)].map(([ring, own]) => ({
    ring,
    files: own.length,
    seconds: own.reduce((sum, { seconds }) => sum + seconds, 0),
  }));
  const slowest = files.toSorted(byTime).slice(0, SLOWEST);
  return [
    '',
    'ring       files seconds',
    ...rings.toSorted(byTime).map((one) => `${one.ring.padEnd(8)}${count(one.files)}${count(one.seconds)}`),
    '',
    'slowest files',
    ...slowest.map(({ ring, path, seconds }) => `${ring.padEnd(8)}${count(seconds)}  ${path}`),
    '',
  ].join('\n');
}

function byTime(a: { readonly seconds: number }, b: { readonly seconds: number }): number {
  return b.seconds - a.seconds;
}

function count(amount: number): string {
  return amount.toFixed(0).padStart(8);
}
