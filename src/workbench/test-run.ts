import { InputError } from '../errors.ts';
import { createSlots } from '../lib/abort.ts';
import type { SavedEndpoint } from '../management/view.ts';
import type { ExecutionOptions } from './check.ts';
import { inFolder, type WorkbenchParts } from './workbench.ts';

/** Runs the tests of one endpoint, as its files are now. @throws InputError for faults of test files; the signal's reason */
export type RunTests = (name: string, signal: AbortSignal) => Promise<SavedEndpoint['tests']>;

/** As `RunTests`, within a bound of time; a failure to run them is a failed test. @throws the caller's reason to abort */
export type TestRun = (name: string, execution: ExecutionOptions) => Promise<SavedEndpoint['tests']>;

const TESTS_MS_MAX = 60_000;

/** Returns a function that runs the tests of one endpoint after another. */
export function createTestRun(runTests: RunTests, folders: Pick<WorkbenchParts, 'folders'>): TestRun {
  const acquire = createSlots(1);
  return async (name, { signal }) => {
    const late = AbortSignal.timeout(TESTS_MS_MAX);
    const until = signal === undefined ? late : AbortSignal.any([signal, late]);
    try {
      const slot = await acquire(until);
      return await runTests(name, until).finally(slot.release);
    } catch (error) {
      signal?.throwIfAborted();
      const message = inFolder(describeTestFailure(error, late), folders);
      return [{ name: 'tests', passed: false, message }];
    }
  };
}

function describeTestFailure(error: unknown, late: AbortSignal): string {
  if (error instanceof InputError) return error.faults.join('\n');
  if (late.aborted) return `the tests did not end within ${TESTS_MS_MAX / 1000} s and were stopped`;
  return 'the tests could not be run; the files are saved, and "tailrace test" runs them';
}
