import { createEvaluate } from '../../alerts/evaluate.ts';
import { type AlertTest, type AlertTestResult, testAlert } from '../../alerts/replay.ts';
import type { Config } from '../../config/config.ts';
import { StoppedError } from '../../errors.ts';
import { openControlStore } from '../../keys/open-control-store.ts';
import { createRunner } from '../../query/run.ts';
import { openCore } from '../../service/open-core.ts';
import { ownerName } from '../environment.ts';
import { findLocalService } from '../local-service.ts';
import { createProgress } from '../progress.ts';
import { callRemote } from '../remote.ts';

/**
 * Tries an alert in the service that owns the store, or in this process if there is none, and shows how far it is.
 *
 * @throws StoppedError if `stop` aborts; as `testAlert`
 */
export async function runAlertTest(
  config: Config,
  asked: AlertTest,
  stop: AbortSignal,
): Promise<AlertTestResult> {
  const progress = createProgress('evaluate', 100);
  const onProgress = (percent: number) => progress.update(percent, `of ${asked.name}`);
  try {
    const service = findLocalService(config);
    if (service === undefined) return await runHere(config, asked, { stop, onProgress });
    const tested = await callRemote(service, '/api/local/alert-tests', { body: asked, signal: stop });
    return tested as AlertTestResult; // by routes/local.ts
  } catch (error) {
    if (stop.aborted) throw new StoppedError(`stopped by ${stop.reason}`, { cause: error });
    throw error;
  } finally {
    progress.stop();
  }
}

interface TestRun {
  readonly stop: AbortSignal;
  readonly onProgress: (percent: number) => void;
}

async function runHere(
  config: Config,
  asked: AlertTest,
  { stop, onProgress }: TestRun,
): Promise<AlertTestResult> {
  await using cleanup = new AsyncDisposableStack();
  const core = await openCore(config, ownerName('alerts test'));
  cleanup.defer(core.close);
  const control = await openControlStore(config);
  cleanup.defer(control.close);
  const { registry, engine } = core;
  const evaluate = createEvaluate({ registry, run: createRunner(engine, Date.now) });
  const receivers = () => new Set<string>(); // the service sends
  const parts = { registry, evaluate, store: control.alerts, receivers, now: Date.now };
  return await testAlert({ ...parts, onProgress: (share) => onProgress(share * 100) }, asked, stop);
}
