import type { Reporter, TestCase } from 'vitest/node';

/**
 * Lists the tests that passed only when they were run again. A failed test is run once more: a machine
 * that stood still must not fail a run, and a fault that comes and goes must not stay unseen.
 */
export default class RepeatedReporter implements Reporter {
  readonly #repeated: string[] = [];

  onTestCaseResult(test: TestCase): void {
    if (test.diagnostic()?.flaky === true) this.#repeated.push(`${test.module.moduleId}: ${test.fullName}`);
  }

  onTestRunEnd(): void {
    if (this.#repeated.length === 0) return;
    process.stderr.write(
      `\nPassed only when run again; find out why:\n${this.#repeated.map((one) => `  ${one}\n`).join('')}`,
    );
  }
}
