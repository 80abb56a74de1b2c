import type { Config } from '../../config/config.ts';
import type { RunTests } from '../../workbench/test-run.ts';
import { failureLines } from './report.ts';
import { runTests } from './run-tests.ts';

/** Runs the tests of an endpoint that the workbench has saved, on a separate, empty engine. */
export function createEndpointTests(config: Config): RunTests {
  return async (name, signal) => {
    const results = await runTests({ config, names: [name], signal });
    return results.map((result) => ({
      name: result.case.name,
      passed: result.isPassed,
      message: result.isPassed ? '' : failureLines(result).join('\n'),
    }));
  };
}
