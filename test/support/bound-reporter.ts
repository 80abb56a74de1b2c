import type { Reporter, TestCase, TestModule } from 'vitest/node';

/**
 * Ends a run after `TEST_MINUTES_MAX` minutes and names the files and tests that still ran: a run that hangs says where.
 * Without that variable a run has no bound.
 */
export default class BoundReporter implements Reporter {
  readonly #files = new Set<string>();
  readonly #tests = new Set<string>();

  onTestRunStart(): void {
    const minutes = Number(process.env['TEST_MINUTES_MAX'] ?? 0);
    if (minutes > 0) setTimeout(() => this.#end(minutes), minutes * 60_000).unref();
  }

  onTestModuleStart(module: TestModule): void {
    this.#files.add(module.relativeModuleId);
  }

  onTestModuleEnd(module: TestModule): void {
    this.#files.delete(module.relativeModuleId);
  }

  onTestCaseReady(test: TestCase): void {
    this.#tests.add(describeTest(test));
  }

  onTestCaseResult(test: TestCase): void {
    this.#tests.delete(describeTest(test));
  }

  #end(minutes: number): void {
    const running = this.#tests.size > 0 ? this.#tests : this.#files;
    process.stderr.write(
      `\nThe run did not end within ${minutes} minutes. Still running:\n${[...running].map((one) => `  ${one}\n`).join('')}`,
    );
    process.exit(1);
  }
}

function describeTest(test: TestCase): string {
  return `${test.module.relativeModuleId}: ${test.fullName}`;
}
