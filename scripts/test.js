// npm test: every check, then the tests in minutes. npm test -- --all: every test, as CI runs them, with half of each property's values.
// Then properties try the same values in every run, so that a red run means the change; `npm test` tries others each time.
// npm test -- test/sql: only the tests of these paths, at full length, without the checks.
import { judgeAudit } from './audit.js';
import { audit, buildConsole, install, run, runQuietly, say } from './prepare.js';
import { installPrograms } from './programs.js';

// Three times what each takes on two cores. A run that hangs ends then, and fails.
const SHORT_MS_MAX = 15 * 60_000;
const ALL_MS_MAX = 75 * 60_000;
const SEED_OF_ALL = '1';
// A release tries the whole of them: TEST_RUNS=1.
const RUNS_OF_ALL = '0.5';

const CHECKS = [
  ['format, lint and layers', 'biome', ['check', '--error-on-warnings', '.']],
  ['types', 'tsc', ['--noEmit']],
  ['types of the console', 'tsc', ['--noEmit', '-p', 'console']],
  ['types of its tests', 'tsc', ['--noEmit', '-p', 'test/e2e']],
  ['unused files, exports and packages', 'knip', []],
];

const given = process.argv.slice(2);
const isAll = given.includes('--all');
const only = given.filter((one) => one !== '--all');
const isShort = !isAll && only.length === 0;

await install();
await buildConsole();
installPrograms(say);
if (only.length === 0) {
  say('checking format, layers, types, unused code and known weaknesses');
  await check();
}
// A path that names a test of `slow` runs it.
const shorter = isShort ? ['--tags-filter', '!slow'] : [];
const ofAll = { TEST_SEED: SEED_OF_ALL, TEST_RUNS: RUNS_OF_ALL, ...process.env };
process.exitCode = await run('vitest', ['run', ...shorter, ...only], {
  env: isShort ? { TEST_SHORT: '1' } : isAll ? ofAll : {},
  timeoutMs: isShort ? SHORT_MS_MAX : ALL_MS_MAX,
});

/** Runs all checks at once, since most use one core for some of their time; each is reported whole, in this order. */
async function check() {
  const audited = audit();
  const checks = CHECKS.map(([what, command, args]) => ({ what, ended: runQuietly(command, args) }));
  const failed = [];
  for (const { what, ended } of checks) {
    const { code, output } = await ended;
    say(`${what}: ${code === 0 ? 'passed' : 'failed'}`);
    if (code === 0) continue;
    process.stderr.write(output);
    failed.push(what);
  }
  const { stdout, reason } = await audited;
  const { state, message } = judgeAudit(stdout, reason);
  say(`known weaknesses of the packages that are shipped: ${state}, ${message}`);
  if (failed.length > 0 || state === 'failed') process.exit(1);
}
