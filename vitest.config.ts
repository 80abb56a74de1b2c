import { randomInt } from 'node:crypto';
import { defineConfig } from 'vitest/config';

// `npm test` (scripts/test.js) names the seed and the share of each property that is tried; without them, a whole property
// with new values. A failed test prints its seed.
const seed = process.env['TEST_SEED'] ?? String(randomInt(2 ** 31));
const share = process.env['TEST_RUNS'] ?? '1';

// Words before `.test.ts` and the folder say in which ring a file is; CONTRIBUTING.md lists them.
const UNIT = 'test/**/*.unit.test.ts';
const SERVER = 'test/**/*.{server,both}.test.ts';
const ON_SERVER_ONLY = 'test/**/*.server.test.ts';
const TIMED = '**/*.timed.test.ts';
/** Each of these tests starts programs: Tailrace itself, proxies, clients in other languages. */
const PROGRAMS = 'test/{acceptance,clients,deploy}/**/*.test.ts';
const TIMED_PROGRAMS = 'test/{acceptance,clients,deploy}/**/*.timed.test.ts';
const BROWSER = 'test/e2e/**/*.test.ts';
const TIMED_BROWSER = 'test/e2e/**/*.timed.test.ts';
// Packages of the workspace test/clients bring tests.
const PACKAGES = '**/node_modules/**';

// These end a test that hangs. They are far above what a test takes on a busy machine.
const TEST_MS_MAX = 180_000;
const PROGRAM_MS_MAX = 300_000;

export default defineConfig({
  test: {
    maxWorkers: 3,
    testTimeout: TEST_MS_MAX,
    hookTimeout: TEST_MS_MAX,
    // A busy machine may be late; each wait ends as soon as what it waits for is there.
    expect: { poll: { timeout: 60_000 } },
    setupFiles: 'test/support/property.ts',
    globalSetup: 'test/support/run-folder.ts',
    reporters: ['default', './test/support/reporter.ts'],
    env: {
      // Readers of an engine hold a libuv thread each while they compute.
      UV_THREADPOOL_SIZE: '16',
      TEST_SEED: seed,
      TEST_RUNS: share,
    },
    // Few processes for all files: loading the code takes longer than most of their tests, and engines have their own processes.
    isolate: false,
    projects: [
      {
        extends: true,
        // No engine, no service and no other process: setupFiles rejects them.
        test: {
          name: 'unit',
          include: [UNIT],
          exclude: [PACKAGES],
          setupFiles: ['test/support/no-process.ts'],
        },
      },
      {
        extends: true,
        test: {
          name: 'service',
          include: ['test/**/*.test.ts'],
          exclude: [PACKAGES, UNIT, ON_SERVER_ONLY, PROGRAMS, BROWSER, TIMED],
        },
      },
      {
        extends: true,
        // What both engines do alike, on a server; for `npm run test:clickhouse` a real one.
        test: {
          name: 'server',
          include: [SERVER],
          exclude: [PACKAGES],
          env: { TEST_ENGINE: process.env['TEST_ENGINE'] ?? 'front' },
        },
      },
      {
        extends: true,
        test: {
          name: 'programs',
          testTimeout: PROGRAM_MS_MAX,
          include: [PROGRAMS],
          exclude: [PACKAGES, UNIT, TIMED],
        },
      },
      {
        extends: true,
        test: {
          name: 'browser',
          testTimeout: PROGRAM_MS_MAX,
          include: [BROWSER],
          exclude: [PACKAGES, UNIT, TIMED],
        },
      },
      // From here on: each night.
      {
        extends: true,
        // What measures, waits for or races real time. Each file has its own process: some load the engine into it.
        test: {
          name: 'timed',
          isolate: true,
          include: [`test/${TIMED}`],
          exclude: [PACKAGES, TIMED_PROGRAMS, TIMED_BROWSER, 'test/**/*.server.timed.test.ts'],
        },
      },
      {
        extends: true,
        test: {
          name: 'timed-server',
          isolate: true,
          include: ['test/**/*.{server,both}.timed.test.ts'],
          exclude: [PACKAGES, TIMED_PROGRAMS],
          env: { TEST_ENGINE: process.env['TEST_ENGINE'] ?? 'front' },
        },
      },
      {
        extends: true,
        test: {
          name: 'timed-programs',
          isolate: true,
          testTimeout: PROGRAM_MS_MAX,
          include: [TIMED_PROGRAMS],
          exclude: [PACKAGES],
        },
      },
      {
        extends: true,
        test: {
          name: 'timed-browser',
          testTimeout: PROGRAM_MS_MAX,
          include: [TIMED_BROWSER],
          exclude: [PACKAGES],
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
