import { beforeEach } from 'vitest';
import { startTestService } from './service.ts';

type TestService = Awaited<ReturnType<typeof startTestService>>;

// Files of a worker share their modules (`isolate: false`); globalThis holds it even if a module is loaded anew.
const shared = globalThis as { tailraceSharedService?: Promise<TestService> };
let projects = 0;

/**
 * The service that all test files of a worker share: the shipped definitions, no setting changed, never closed by a test (it ends with
 * its worker). A test uses its own project (`newProject`), key names and search words, so that it sees only its own events, and never
 * asserts on totals of the whole service. A file that needs settings, definitions, restarts or totals starts its own service.
 */
export function shareService(): Promise<TestService> {
  shared.tailraceSharedService ??= startTestService();
  const service = shared.tailraceSharedService;
  // A test may move the clock; the next one finds the real time again.
  beforeEach(async () => {
    (await service).clock.now = Date.now();
  });
  return service;
}

/** The name of a project that no other test of this run uses. */
export function newProject(): string {
  return `p${process.pid}x${++projects}`;
}
