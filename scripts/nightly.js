// npm run test:nightly [RING…]: what measures, waits for or races real time, and every property in full with new values, ring by
// ring. A file with a failed test is run three times more: a test that fails again is a fault; one that passes each time met a busy
// machine and is only listed.
import { readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { buildConsole, install, root, run, say } from './prepare.js';
import { installPrograms } from './programs.js';

const REPEATS = 3;
const RING_MINUTES_MAX = 20;

/** Ring → the projects of vitest.config.ts that it runs. */
export const RINGS = {
  races: ['timed', 'timed-server'],
  programs: ['timed-programs'],
  browser: ['timed-browser'],
  properties: ['unit', 'service', 'server'],
};

const names = process.argv.slice(2);
const unknown = names.filter((name) => !Object.hasOwn(RINGS, name));
if (unknown.length > 0) {
  say(`no ring is called ${unknown.join(', ')}; the rings are ${Object.keys(RINGS).join(', ')}`);
  process.exit(2);
}
await install();
await buildConsole();
installPrograms(say);
const red = [];
for (const name of names.length > 0 ? names : Object.keys(RINGS)) {
  const started = Date.now();
  const isGreen = await runRing(RINGS[name]);
  if (!isGreen) red.push(name);
  say(`ring ${name}: ${isGreen ? 'green' : 'red'} after ${Math.round((Date.now() - started) / 1000)} s`);
}
if (red.length > 0) say(`red: ${red.join(', ')}`);
process.exitCode = red.length > 0 ? 1 : 0;

async function runRing(projects) {
  const first = await runFiles(projects, []);
  if (first.code === 0) return true;
  if (first.failed.size === 0) return false; // it did not get as far as a test
  const files = [...new Set([...first.failed].map((test) => test.split(' › ', 1)[0]))];
  const again = new Map();
  for (let round = 1; round <= REPEATS; round++) {
    const { code, failed } = await runFiles(projects, files);
    if (code !== 0 && failed.size === 0) return false;
    for (const test of failed) again.set(test, (again.get(test) ?? 0) + 1);
  }
  for (const test of first.failed)
    if (!again.has(test)) say(`failed once, then passed ${REPEATS} times: ${test}`);
  for (const [test, count] of again) say(`failed ${count} of ${REPEATS} repeats: ${test}`);
  return again.size === 0;
}

/** Runs files of projects, all unless some are named; resolves with the exit code and the failed tests as `file › test`. */
async function runFiles(projects, files) {
  const folder = await mkdtemp(join(tmpdir(), 'tailrace-nightly-'));
  const report = join(folder, 'report.json');
  const code = await run(
    'vitest',
    [
      'run',
      ...projects.flatMap((project) => ['--project', project]),
      '--reporter=default',
      '--reporter=./test/support/reporter.ts',
      '--reporter=json',
      `--outputFile.json=${report}`,
      ...files,
    ],
    { env: { TEST_MINUTES_MAX: String(RING_MINUTES_MAX), ...process.env } },
  );
  const failed = readFailed(report);
  await rm(folder, { recursive: true, force: true });
  return { code, failed };
}

function readFailed(report) {
  try {
    const { testResults } = JSON.parse(readFileSync(report, 'utf8'));
    return new Set(
      testResults.flatMap(({ name, status, assertionResults }) => {
        const tests = assertionResults.filter((test) => test.status === 'failed');
        const titles = tests.map((test) => test.fullName);
        // A file may also fail as a whole, before its first test.
        const all = titles.length === 0 && status === 'failed' ? ['the file'] : titles;
        return all.map((title) => `${relative(root, name)} › ${title}`);
      }),
    );
  } catch {
    return new Set(); // no report: the run ended before its tests
  }
}
