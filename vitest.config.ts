import { defineConfig } from 'vitest/config';

const SERVER_CONTRACT = 'test/engine/server.test.ts';

// The rest is about commands more than about where events are; on a real server all of them run.
const ON_FRONT = ['clients', 'kill', 'serve'].map((name) => `test/acceptance/${name}.test.ts`);
const ON_SERVER = process.env['TEST_ENGINE'] === undefined ? ON_FRONT : ['test/acceptance/**/*.test.ts'];

export default defineConfig({
  test: {
    // One chDB store per process: each file gets a process of its own, and two run at once on two cores.
    pool: 'forks',
    maxWorkers: 2,
    testTimeout: 30_000,
    hookTimeout: 60_000,
    // Readers of an engine hold a libuv thread each while they compute.
    env: { UV_THREADPOOL_SIZE: '16' },
    projects: [
      {
        extends: true,
        test: { name: 'service', include: ['test/**/*.test.ts'], exclude: ['test/e2e/**', SERVER_CONTRACT] },
      },
      {
        // What both engines do alike, on a server; for `npm run test:clickhouse` a real one.
        extends: true,
        test: {
          name: 'server',
          include: ['test/endpoints/**/*.test.ts', ...ON_SERVER, SERVER_CONTRACT],
          // They bring a server of their own, beside the embedded engine.
          exclude: ['copy', 'engine-process', 'replicas'].map((name) => `test/acceptance/${name}.test.ts`),
          env: { TEST_ENGINE: process.env['TEST_ENGINE'] ?? 'front' },
        },
      },
      {
        extends: true,
        test: {
          name: 'browser',
          include: ['test/e2e/**/*.test.ts'],
          globalSetup: 'test/e2e/setup.ts',
          testTimeout: 60_000,
          // What a page shows may be late on a busy machine; each of these waits ends as soon as it is there.
          expect: { poll: { timeout: 15_000 } },
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
