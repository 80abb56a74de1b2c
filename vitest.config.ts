import { randomInt } from 'node:crypto';
import { defineConfig } from 'vitest/config';

// `npm test` without arguments (scripts/test.js): a share of each property, and no file of SLOW.
const isShort = process.env['TEST_SHORT'] === '1';
// Of all random values. A failed test prints it; TEST_SEED=… repeats them.
const seed = process.env['TEST_SEED'] ?? String(randomInt(2 ** 31));

/** Each tests a whole program, image or page, or one thing at length; faster tests cover the parts. */
const SLOW = [
  'test/acceptance/!(kill|replicas|serve).test.ts',
  'test/attack/**/*.test.ts',
  'test/cli/commands/{retention,sample,test}.test.ts',
  'test/deploy/{package,proxy}.test.ts',
  'test/dialect/{corpus,property}.test.ts',
  'test/e2e/!(pages).test.ts',
  'test/endpoints/*-many.test.ts',
  'test/engine/embedded-restart.test.ts',
  'test/fuzz/bigquery-time.test.ts',
  'test/http/{external,fairness,retention-guard}.test.ts',
  'test/sandbox/{analysis,named-views,time-zone,value-size}.test.ts',
];

const slow = isShort ? SLOW : [];

// For groups that start processes. What passes only then is listed at the end of the run.
const retry = 1;

/** Files that start no engine, no service and no other process. */
const UNIT = [
  'test/{docs,docs-style,security}.test.ts',
  'bench/**/*.test.ts',
  'test/{config,console,scripts}/**/*.test.ts',
  'test/maintenance/!(hanging-engine).test.ts',
  'test/cache/!(incremental).test.ts',
  'test/cache/shared/!(replicas).test.ts',
  'test/cli/{program,table}.test.ts',
  'test/cli/commands/{key-options,keys}.test.ts',
  'test/definitions/!(parameter).test.ts',
  'test/dialect/oracle.test.ts',
  'test/dialect/bigquery/{refusal,translate}.test.ts',
  'test/deploy/{dockerfile,workflow}.test.ts',
  'test/engine/{failure,sandbox-rights,session-pool,write-marks}.test.ts',
  'test/engine/process/!(engine-process).test.ts',
  'test/fuzz/parse-time.test.ts',
  'test/http/{console,json-body,json-values}.test.ts',
  'test/ingest/!(committer|idempotency|load).test.ts',
  'test/keys/!(postgres-store|token-secret).test.ts',
  'test/lib/!(redis).test.ts',
  'test/query/timestamp.test.ts',
  'test/retention/!(retention).test.ts',
  'test/sample/!(fill).test.ts',
  'test/serve/{failed-keys,representation}.test.ts',
  'test/sql/!(parameter).test.ts',
  'test/telemetry/!(overview).test.ts',
  'test/workbench/**/*.test.ts',
];

/** Files that load the engine into their own process, which can have one store only, or count the processes that it has. */
const ALONE = [
  'test/acceptance/{copy,replicas}.test.ts',
  'test/deploy/clickhouse*.test.ts',
  'test/engine/{deleting-ttl,embedded-*,lost-tokens,server-*,store-mark}.test.ts',
  'test/engine/process/engine-process.test.ts',
  'test/http/{deletions-shared,disk-full,engine-restart,replicas,retention-server,shared-keys}.test.ts',
  'test/sandbox/server-user.test.ts',
];

const PARAMETER_TYPES = ['test/definitions/parameter.test.ts', 'test/http/typed-parameters.test.ts'];
const SERVER_CONTRACT = 'test/engine/server.test.ts';

// The rest is about commands more than about where events are; on a real server all of them run.
const ON_FRONT = ['clients', 'delete-beside-ingest', 'kill', 'serve'].map(
  (name) => `test/acceptance/${name}.test.ts`,
);
const ON_SERVER = process.env['TEST_ENGINE'] === undefined ? ON_FRONT : ['test/acceptance/**/*.test.ts'];

export default defineConfig({
  test: {
    maxWorkers: 2,
    testTimeout: 60_000,
    hookTimeout: 60_000,
    // A busy machine may be late; each wait ends as soon as what it waits for is there.
    expect: { poll: { timeout: 15_000 } },
    setupFiles: 'test/support/property.ts',
    reporters: ['default', './test/support/repeated-reporter.ts'],
    tags: [{ name: 'slow', description: 'Left out of npm test without --all.' }],
    env: {
      // Readers of an engine hold a libuv thread each while they compute.
      UV_THREADPOOL_SIZE: '16',
      TEST_SEED: seed,
      TEST_RUNS: process.env['TEST_RUNS'] ?? (isShort ? '0.2' : '1'),
    },
    projects: [
      {
        extends: true,
        test: { name: 'unit', include: UNIT, isolate: false },
      },
      {
        extends: true,
        // Two processes for all files: loading the code takes longer than most of their tests, and engines have processes of their own.
        test: {
          name: 'service',
          retry,
          include: ['test/**/*.test.ts'],
          // Packages of the workspace test/clients bring tests.
          exclude: ['**/node_modules/**', 'test/e2e/**', SERVER_CONTRACT, ...UNIT, ...ALONE, ...slow],
          isolate: false,
        },
      },
      {
        extends: true,
        test: { name: 'alone', retry, include: ALONE, exclude: slow },
      },
      {
        extends: true,
        // What both engines do alike, on a server; for `npm run test:clickhouse` a real one.
        test: {
          name: 'server',
          retry,
          include: isShort
            ? [SERVER_CONTRACT]
            : ['test/endpoints/**/*.test.ts', ...PARAMETER_TYPES, ...ON_SERVER, SERVER_CONTRACT],
          // They bring a server of their own, beside the embedded engine.
          exclude: ['copy', 'engine-process', 'replicas'].map((name) => `test/acceptance/${name}.test.ts`),
          env: { TEST_ENGINE: process.env['TEST_ENGINE'] ?? 'front' },
        },
      },
      {
        extends: true,
        test: {
          name: 'browser',
          retry,
          include: ['test/e2e/**/*.test.ts'],
          exclude: slow,
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
