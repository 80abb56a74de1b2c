import { randomInt } from 'node:crypto';
import { defineConfig } from 'vitest/config';

// `npm test` without arguments (scripts/test.js): a share of each property, and no file of SLOW.
const isShort = process.env['TEST_SHORT'] === '1';
// Of all random values. A failed test prints it; TEST_SEED=… repeats them.
const seed = process.env['TEST_SEED'] ?? String(randomInt(2 ** 31));
// Of each property.
const share = Number(process.env['TEST_RUNS'] ?? (isShort ? '0.2' : '1'));

// A word before `.test.ts` names the ring of a file, or that it is left out of the short run; CONTRIBUTING.md lists them.
const UNIT = '**/*.unit.test.ts';
const ALONE = '**/*.alone{,.slow}.test.ts';
const SERVER = '**/*.server.test.ts';
const BOTH = 'test/**/*.both{,.slow}.test.ts';
const SLOW = '**/*.slow.test.ts';
/** Each of these tests starts programs: Tailrace itself, proxies, clients in other languages. */
const PROGRAMS = 'test/{acceptance,attack,cli,clients,deploy,fuzz}/**/*.test.ts';
const BROWSER = 'test/e2e/**/*.test.ts';

const packages = '**/node_modules/**'; // those of the workspace test/clients bring tests
const slow = isShort ? [SLOW] : [];

/** Tests of the ring `service` that run with listener processes, too. */
const LISTENERS = ['closing', 'connections', 'errors', 'listener', 'proxy', 'rate-limit', 'tail'].map(
  (name) => `test/http/${name}.test.ts`,
);

// A test of 28 s alone takes up to four times as long beside the others, on two busy cores.
const PROGRAM_MS_MAX = 240_000;

// On a real server every command is tried; on the one that the embedded engine plays, those of BOTH are enough.
const isRealServer = process.env['TEST_ENGINE'] !== undefined;
const COMMANDS = 'test/acceptance/**/*.test.ts';

export default defineConfig({
  test: {
    // One more than the cores of a small machine: a test waits some of its time, for programs, browsers and disks.
    maxWorkers: 3,
    // What passes only then is listed at the end of the run. Random values are the same both times.
    retry: 1,
    testTimeout: 60_000,
    hookTimeout: 60_000,
    // A busy machine may be late; each wait ends as soon as what it waits for is there.
    expect: { poll: { timeout: 30_000 } },
    setupFiles: 'test/support/property.ts',
    reporters: ['default', './test/support/repeated-reporter.ts', './test/support/time-reporter.ts'],
    tags: [{ name: 'slow', description: 'Left out of npm test without --all.' }],
    env: {
      // Readers of an engine hold a libuv thread each while they compute.
      UV_THREADPOOL_SIZE: '16',
      TEST_SEED: seed,
      TEST_RUNS: String(share),
    },
    projects: [
      {
        extends: true,
        // No engine, no service and no other process: setupFiles refuses them.
        test: {
          name: 'unit',
          include: [UNIT],
          exclude: [packages],
          isolate: false,
          setupFiles: ['test/support/no-process.ts'],
        },
      },
      {
        extends: true,
        // Few processes for all files: loading the code takes longer than most of their tests, and engines have processes of their own.
        test: {
          name: 'service',
          include: ['{bench,test}/**/*.test.ts'],
          exclude: [packages, UNIT, ALONE, SERVER, BROWSER, PROGRAMS, ...slow],
          isolate: false,
        },
      },
      {
        extends: true,
        test: {
          name: 'programs',
          testTimeout: PROGRAM_MS_MAX,
          include: [PROGRAMS],
          exclude: [packages, UNIT, ALONE, ...slow],
          isolate: false,
        },
      },
      {
        extends: true,
        // What a client notices of connections, and of answers that are served, revoked or refused, with two listener processes.
        test: {
          name: 'listeners',
          include: isShort ? [] : LISTENERS,
          isolate: false,
          env: { TEST_LISTENERS: '2' },
        },
      },
      {
        extends: true,
        // Files that load the engine into their own process, which can have one store only, or count the processes that it has.
        test: { name: 'alone', include: [ALONE], exclude: [packages, ...slow] },
      },
      {
        extends: true,
        // What both engines do alike, on a server; for `npm run test:clickhouse` a real one.
        test: {
          name: 'server',
          include: [SERVER, ...(isShort ? [] : [BOTH]), ...(isRealServer ? [COMMANDS] : [])],
          // They bring a server of their own, beside the embedded engine.
          exclude: [packages, ALONE, 'test/acceptance/engine-process.slow.test.ts'],
          env: {
            TEST_ENGINE: process.env['TEST_ENGINE'] ?? 'front',
            // On the way to the embedded engine that plays the server; the service ring has tried all of them on that engine.
            TEST_RUNS: String(isRealServer ? share : share / 5),
          },
        },
      },
      {
        extends: true,
        test: {
          name: 'browser',
          testTimeout: PROGRAM_MS_MAX,
          include: [isShort ? 'test/e2e/pages.test.ts' : BROWSER],
          globalSetup: 'test/e2e/setup.ts',
        },
      },
    ],
    coverage: {
      provider: 'v8',
      include: ['src/**/*.ts'],
      reporter: ['text-summary', 'html'],
    },
  },
});
