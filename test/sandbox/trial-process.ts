// A process of its own with the sandbox and an engine in it: what it tries may never return. See trial.ts.
import { TailraceError } from '../../src/errors.ts';
import { parseParameters } from '../../src/query/parameters.ts';
import { createStatement } from '../../src/query/statement.ts';
import { openSandbox } from './support.ts';
import type { TrialMode } from './trial.ts';

const { core, stored, check, ask, canaryFile, close } = await openSandbox({
  TAILRACE_QUERY_TIMEOUT_MS: process.argv[2] ?? '10000',
  TAILRACE_QUERY_MEMORY_BYTES_MAX: process.argv[3] ?? String(128 * 1024 * 1024),
});
const VALUES = { ...parseParameters(stored, { project: 'p' }, 65_536), now: '2026-01-01T00:00:00.000000Z' };

const MODES: Readonly<Record<TrialMode, (sql: string) => Promise<unknown>>> = {
  check,
  ask,
  // Names resolved, constants computed, steps planned: all but the run.
  async analyse(sql) {
    const { sql: text } = createStatement(await check(sql));
    await core.engine.query(`EXPLAIN ${text}`, VALUES, { format: 'TSVRaw' });
  },
};

async function attempt(mode: TrialMode, sql: string) {
  try {
    const result = await MODES[mode](sql);
    return { rows: JSON.stringify(mode === 'ask' ? result : []) };
  } catch (error) {
    if (!(error instanceof TailraceError)) return { code: 'unexpected', message: String(error) };
    return { code: error.code, message: error.message };
  }
}

/** Resolves when no query runs any more: an answer may be given up long before the engine ends. */
async function untilIdle(): Promise<void> {
  while (core.engine.gauges().running > 0) await new Promise((resolve) => setTimeout(resolve, 5));
}

process.on('message', ({ mode, sql }: { mode: TrialMode; sql: string }) => {
  const from = performance.now();
  void attempt(mode, sql.replaceAll('@file@', canaryFile)).then(async (outcome) => {
    await untilIdle();
    process.send?.({ ms: performance.now() - from, ...outcome });
  });
});
process.on('disconnect', () => void close().then(() => process.exit()));
process.send?.({ ready: true });
