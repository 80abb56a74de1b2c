import type { Reporter, TestModule } from 'vitest/node';

const SLOWEST = 10;
// A run of fewer files is of those that somebody works on.
const FILES_MIN = 20;

/** Prints the slowest files at the end of a run. A file's time includes loading it, where its service is started. */
export default class TimeReporter implements Reporter {
  readonly #files: { readonly name: string; readonly seconds: number }[] = [];

  onTestModuleEnd(module: TestModule): void {
    const { collectDuration, setupDuration, duration } = module.diagnostic();
    const seconds = (collectDuration + setupDuration + duration) / 1_000;
    this.#files.push({ name: `${module.project.name}  ${module.relativeModuleId}`, seconds });
  }

  onTestRunEnd(): void {
    if (this.#files.length < FILES_MIN) return;
    const slowest = this.#files.toSorted((a, b) => b.seconds - a.seconds).slice(0, SLOWEST);
    const lines = slowest.map(({ name, seconds }) => `${seconds.toFixed(0).padStart(6)} s  ${name}`);
    process.stderr.write(`\nSlowest files\n${lines.join('\n')}\n`);
  }
}
