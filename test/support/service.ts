import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import { afterAll, beforeEach } from 'vitest';
import { type Bounds, type Config, parseConfig } from '../../src/config/config.ts';
import { parseEvent } from '../../src/ingest/event.ts';
import { insertEvents } from '../../src/ingest/rows.ts';
import type { NewKey } from '../../src/keys/management.ts';
import { parseParameters } from '../../src/query/parameters.ts';
import { createQuestion } from '../../src/query/question.ts';
import { createRunner } from '../../src/query/run.ts';
import type { ServiceOptions } from '../../src/service/context.ts';
import { type Core, openCore } from '../../src/service/open-core.ts';
import { createService, type Service } from '../../src/service/service.ts';
import { openTestEngine } from './server-engine.ts';

/** The key of every scope in services that the tests start. */
export const PRIVATE_KEY = 'test-private-key-0123456789';
/** The key that commands on this machine send. */
const LOCAL_KEY = 'test-local-key-0123456789';
export const PUBLIC_KEY = 'test-public-key-0123456789';

/** What an answer of the service holds: rows, or an error. */
export interface AnswerBody {
  readonly result: Record<string, unknown>[];
  readonly error: { code: string; message: string; status: number; request_id: string; errors: object[] };
}

type Texts = Readonly<Record<string, string>>;

/** A clock that stands still until it is set; ms since the epoch. */
export interface Clock {
  now: number;
}

/** Settings of a test: a folder of its own, a free port, limits turned down where `env` says so. */
export function testConfig(dataDir: string, env: Texts = {}): Config {
  return parseConfig({
    TAILRACE_DATA_DIR: dataDir,
    TAILRACE_PORT: '0',
    TAILRACE_PRIVATE_KEY: PRIVATE_KEY,
    TAILRACE_PUBLIC_KEY: PUBLIC_KEY,
    ...env,
  });
}

export async function temporaryFolder(): Promise<{ path: string; remove: () => Promise<void> }> {
  const path = await mkdtemp(join(tmpdir(), 'tailrace-test-'));
  return { path, remove: () => rm(path, { recursive: true, force: true }) };
}

/** The folder of a test file, for its top: removed after its last test. */
export async function ownFolder(): Promise<{ readonly path: string }> {
  const { path, remove } = await temporaryFolder();
  afterAll(remove);
  return { path };
}

/** Writes files by their paths below a folder. */
export async function writeFiles(folder: string, files: Texts): Promise<void> {
  for (const [path, text] of Object.entries(files)) {
    await mkdir(join(folder, path, '..'), { recursive: true });
    await writeFile(join(folder, path), text);
  }
}

/** The real engine with the shipped definitions, in a temporary folder. */
export async function openTestStore(env: Texts = {}) {
  const folder = await temporaryFolder();
  const backend = await openTestEngine(folder.path);
  const config = testConfig(folder.path, { ...backend.env, ...env });
  const core = await openCore(config, 'a test');
  const close = async () => {
    await core.close();
    await backend.remove();
    await folder.remove();
  };
  return { core, config, close };
}

/** Stores events where a command with these settings finds them. */
export async function storeFor(env: Texts, source: string, events: readonly object[]): Promise<void> {
  const core = await openCore(parseConfig(env), 'a test');
  await storeEvents(core, source, events, Date.now()).finally(core.close);
}

/** What an endpoint returns on the store of these settings, without a service. */
export async function askStore(env: Texts, name: string, parameters: Texts): Promise<string> {
  const core = await openCore(parseConfig(env), 'a test');
  try {
    const endpoint = core.registry.getEndpoint(name);
    const question = createQuestion(endpoint, parseParameters(endpoint, parameters));
    return String((await createRunner(core.engine, Date.now)(question, {})).body);
  } finally {
    await core.close();
  }
}

/** A service that listens on a free port of 127.0.0.1, with a clock that the test moves. */
export async function startTestService(
  options: Partial<Pick<ServiceOptions, 'logger' | 'owner' | 'runTests' | 'prepare'>> & {
    env?: Texts;
    /** Texts of files beside the shipped sources, or in the place of some. */
    sources?: Texts;
    /** Constants of single parts, so small that they are reached. */
    bounds?: Partial<Bounds>;
    now?: number;
  } = {},
) {
  const { env: own = {}, sources: files = {}, bounds = {}, now = Date.now(), ...more } = options;
  const folder = await temporaryFolder();
  const sources = join(folder.path, 'sources');
  await copySourcesKeepingAll(sources);
  await writeFiles(sources, files);
  const backend = await openTestEngine(folder.path);
  const env = { TAILRACE_SOURCES_DIR: sources, ...backend.env, ...own };
  const config = { ...testConfig(folder.path, env), ...bounds };
  const clock: Clock = { now };
  const service: Service = await createService(config, {
    logger: pino({ level: 'silent' }),
    owner: 'a test', // commands look for a service only behind the name of one
    localKey: LOCAL_KEY,
    now: () => clock.now,
    random: () => 0,
    ...more,
    actions: { reload: async () => undefined, stop() {} },
  });
  const url: string = await service.app.listen({ host: config.host, port: config.port, backlog: 4_096 });

  /** GET of an endpoint with the private key; the answer's JSON. */
  async function call(endpoint: string, parameters: Texts = {}, more: Texts = {}) {
    const path = `/api/endpoints/query/${endpoint}?${new URLSearchParams(parameters)}`;
    const response = await fetch(url + path, { headers: { 'x-api-key': PRIVATE_KEY, ...more } });
    const { status, headers } = response;
    return { status, headers, body: (await response.json()) as AnswerBody };
  }

  /** The text of a new key, which may query unless `grant` says otherwise. */
  const newKey = async (grant: Partial<NewKey> = {}): Promise<string> =>
    (await service.keyring.create({ name: 'a test', scopes: ['query'], ...grant })).key;

  async function close(): Promise<void> {
    await service.close();
    await backend.remove();
    await folder.remove();
  }
  return { service, core: service.core, config, clock, url, call, newKey, close };
}

/** The service of a test file, for its top: closed after its last test. */
export async function ownService(options?: Parameters<typeof startTestService>[0]) {
  const service = await startTestService(options);
  afterAll(service.close);
  return service;
}

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

/** The shipped sources with a retention of a century: a test whose clock stands in the past keeps its events. */
async function copySourcesKeepingAll(to: string): Promise<void> {
  await mkdir(to);
  for (const name of await readdir('sources')) {
    const text = await readFile(join('sources', name), 'utf8');
    await writeFile(join(to, name), text.replace('retention_days: 90', 'retention_days: 36500'));
  }
}

/** Stores events, or their JSON texts, as they would come in on the wire, through the real event rules. `now` in ms. */
export async function storeEvents(
  core: Core,
  sourceName: string,
  events: readonly (object | string)[],
  now: number,
): Promise<void> {
  const source = core.registry.getSource(sourceName);
  const rules = { now: now * 1000, eventBytesMax: 1024 * 1024, project: '' };
  const parsed = events.map((event) =>
    parseEvent({ text: typeof event === 'string' ? event : JSON.stringify(event) }, source, rules),
  );
  await insertEvents(core.engine, source, parsed);
}
