// npm test: every check, then the gate. Its properties try the same share of values in every run, so that a red run means the
// change. npm test -- test/sql: only the tests of these paths, at full length, with new values, without the checks.
import { buildConsole, install, run, runQuietly, say } from './prepare.js';
import { installPrograms } from './programs.js';

const GATE = ['unit', 'service', 'server', 'programs', 'browser'];
const GATE_MINUTES_MAX = 20;
// At the bound the run names what still runs (test/support/reporter.ts).
const GATE_ENV = { TEST_SEED: '1', TEST_RUNS: '0.2', TEST_MINUTES_MAX: String(GATE_MINUTES_MAX) };

const CHECKS = [
  ['format, lint and layers', 'biome', ['check', '--error-on-warnings', '.']],
  ['types', 'tsc', ['--noEmit']],
  ['types of the console', 'tsc', ['--noEmit', '-p', 'console']],
  ['types of its tests', 'tsc', ['--noEmit', '-p', 'test/e2e']],
  ['unused files, exports and packages', 'knip', []],
];

const only = process.argv.slice(2);
const isGate = only.length === 0;

await install();
await buildConsole();
if (isGate) {
  installPrograms(say, ['chromium', 'redis-server']);
  say('checking format, layers, types and unused code');
  await check();
  const rings = GATE.flatMap((ring) => ['--project', ring]);
  process.exitCode = await run('vitest', ['run', ...rings], {
    env: { ...GATE_ENV, ...process.env },
    timeoutMs: (GATE_MINUTES_MAX + 2) * 60_000, // if even the reporter hangs
  });
} else {
  installPrograms(say);
  process.exitCode = await run('vitest', ['run', ...only]);
}

/** Runs all checks at once, since most use one core for some of their time; each is reported whole, in this order. */
async function check() {
  const checks = CHECKS.map(([what, command, args]) => ({ what, ended: runQuietly(command, args) }));
  const failed = [];
  for (const { what, ended } of checks) {
    const { code, output } = await ended;
    say(`${what}: ${code === 0 ? 'passed' : 'failed'}`);
    if (code === 0) continue;
    process.stderr.write(output);
    failed.push(what);
  }
  if (failed.length > 0) process.exit(1);
}
