import type { Reporter, TestCase, TestModule } from 'vitest/node';

const SLOWEST = 10;
// A run of fewer files is of those that somebody works on.
const FILES_MIN = 20;

/**
 * Prints the slowest files at the end of a run; a file's time includes loading it, where its service is started. Ends a run after
 * `TEST_MINUTES_MAX` minutes, if that is set, and names the files and tests that still ran: a run that hangs says where.
 */
export default class RunReporter implements Reporter {
  readonly #running = { files: new Set<string>(), tests: new Set<string>() };
  readonly #ended: { readonly name: string; readonly seconds: number }[] = [];

  onTestRunStart(): void {
    const minutes = Number(process.env['TEST_MINUTES_MAX'] ?? 0);
    if (minutes > 0) setTimeout(() => this.#end(minutes), minutes * 60_000).unref();
  }

  onTestModuleStart(module: TestModule): void {
    this.#running.files.add(module.relativeModuleId);
  }

  onTestModuleEnd(module: TestModule): void {
    this.#running.files.delete(module.relativeModuleId);
    const { collectDuration, setupDuration, duration } = module.diagnostic();
    const seconds = (collectDuration + setupDuration + duration) / 1_000;
    this.#ended.push({ name: `${module.project.name}  ${module.relativeModuleId}`, seconds });
  }

  onTestCaseReady(test: TestCase): void {
    this.#running.tests.add(describeTest(test));
  }

  onTestCaseResult(test: TestCase): void {
    this.#running.tests.delete(describeTest(test));
  }

  onTestRunEnd(): void {
    if (this.#ended.length < FILES_MIN) return;
    const slowest = this.#ended.toSorted((a, b) => b.seconds - a.seconds).slice(0, SLOWEST);
    const lines = slowest.map(({ name, seconds }) => `${seconds.toFixed(0).padStart(6)} s  ${name}`);
    process.stderr.write(`\nSlowest files\n${lines.join('\n')}\n`);
  }

  #end(minutes: number): void {
    const { files, tests } = this.#running;
    const lines = [...(tests.size > 0 ? tests : files)].map((one) => `  ${one}\n`);
    process.stderr.write(
      `\nThe run did not end within ${minutes} minutes. Still running:\n${lines.join('')}`,
    );
    process.exit(1);
  }
}

const describeTest = (test: TestCase) => `${test.module.relativeModuleId}: ${test.fullName}`;
