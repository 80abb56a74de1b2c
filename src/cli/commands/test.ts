import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { styleText } from 'node:util';
import { Command } from 'commander';
import type { Config } from '../../config/config.ts';
import type { Endpoint } from '../../definitions/endpoint.ts';
import { describeFolders, findFolders } from '../../definitions/folders.ts';
import { type LoadResult, readDefinitions } from '../../definitions/read.ts';
import { createRegistry, type Registry } from '../../definitions/registry.ts';
import type { Engine } from '../../engine/engine.ts';
import { type Fault, InputError, rejectFaults } from '../../errors.ts';
import { packagePath } from '../../lib/file.ts';
import { openEngine, prepare } from '../../service/open-core.ts';
import type { RunTests } from '../../workbench/tests.ts';
import { readConfig } from '../environment.ts';
import { type CaseResult, runTestFile } from '../testing/run-file.ts';
import type { KnownAlerts } from '../testing/test-case.ts';
import { type EventOptions, readTestEvents, type TestEvents } from '../testing/test-events.ts';
import { findTestFiles, readTestFile, type TestFile } from '../testing/test-file.ts';

export function testCommand(): Command {
  return new Command('test')
    .description(
      'Run the tests of endpoints, endpoints/<folder>/tests/*.yaml, each file on its own empty engine.',
    )
    .argument('[names...]', 'names or UUIDs of endpoints; all without one')
    .action(test);
}

async function test(names: string[]): Promise<void> {
  const config = readConfig();
  for (const line of describeFolders(findFolders(config))) process.stderr.write(`tailrace: ${line}\n`);
  const results = await runTests({ config, names });
  if (results.length === 0)
    throw new InputError([
      'no test was found: add tests/<name>.yaml to the folder of an endpoint, as ' +
        `${packagePath('docs/testing-endpoints.md')} shows`,
    ]);
  process.stdout.write(toText(results));
  if (results.some(({ failure }) => failure.length > 0)) throw new InputError([summarise(results)]);
  process.stdout.write(`${summarise(results)}\n`);
}

export interface TestOptions {
  readonly config: Config;
  /** Names or UUIDs of endpoints; empty: all. */
  readonly names: readonly string[];
  /** Aborting stops the running query and throws the signal's reason. */
  readonly signal?: AbortSignal | undefined;
}

/**
 * Runs the tests of endpoints, file by file, on a separate, empty engine.
 *
 * @returns the results in the order of files and cases; empty if there is no test
 * @throws InputError with every fault of definitions and test files, or for a name without an endpoint
 */
export async function runTests({ config, names, signal }: TestOptions): Promise<CaseResult[]> {
  const reading = await readDefinitions(config);
  const registry = createRegistry(reading.definitions);
  const faults: Fault[] = [...reading.faults];
  const alerts = { alerts: registry.alerts, areAll: faults.length === 0 };
  const report = (fault: Fault) => faults.push(fault);
  const tests = await readTests(findEndpoints(names, registry, reading), { registry, report, alerts });
  if (tests.length === 0 && faults.length === 0) return [];
  await using cleanup = new AsyncDisposableStack();
  const engine = await openTemporaryEngine(config);
  cleanup.defer(engine.close);
  await prepare(engine, { ...reading, faults }, { hasExternal: false });
  const results: CaseResult[] = [];
  for (const [test, events] of tests) {
    signal?.throwIfAborted();
    results.push(...(await runTestFile(test, events, { engine, registry, signal })));
  }
  return results;
}

function findEndpoints(
  names: readonly string[],
  registry: Registry,
  { faults }: LoadResult,
): readonly Endpoint[] {
  if (names.length === 0) return registry.endpoints;
  const unknown = names.filter((name) => registry.findEndpoint(name) === undefined);
  if (unknown.length > 0) {
    rejectFaults(faults); // the name may be that of a file with faults
    const known = registry.endpoints.map(({ name }) => name).join(', ');
    throw new InputError(
      unknown.map((name) => `no endpoint has the UUID or name ${JSON.stringify(name)}; there are ${known}`),
    );
  }
  const named = new Set(names.map(registry.findEndpoint));
  return registry.endpoints.filter((endpoint) => named.has(endpoint));
}

/** Reads every test file without faults, with its events. */
async function readTests(
  endpoints: readonly Endpoint[],
  options: EventOptions & { readonly alerts: KnownAlerts },
): Promise<[TestFile, TestEvents][]> {
  const tests: [TestFile, TestEvents][] = [];
  for (const endpoint of endpoints) {
    for (const path of await findTestFiles(endpoint)) {
      const test = await readTestFile(path, endpoint, options.alerts);
      if (Array.isArray(test)) test.forEach(options.report);
      else tests.push([test, await readTestEvents(test, options)]);
    }
  }
  return tests;
}

/** Runs the tests of an endpoint that the workbench has saved, on a separate, empty engine. */
export function createEndpointTests(config: Config): RunTests {
  return async (name, signal) => {
    const results = await runTests({ config, names: [name], signal });
    return results.map(({ name: title, failure }) => {
      return { name: title, passed: failure.length === 0, message: failure.join('\n') };
    });
  };
}

/** Writes the results for people: a line for each case, and below a failed one the differences. */
export function toText(results: readonly CaseResult[]): string {
  const files = Map.groupBy(results, ({ file }) => file);
  return [...files].map(([file, own]) => `${file}\n${own.map(caseText).join('')}`).join('');
}

function caseText({ file, line, name, failure }: CaseResult): string {
  if (failure.length === 0) return `  ${styleText('green', '✓')} ${name}\n`;
  const lines = failure.map((text) => `      ${coloured(text)}\n`);
  return `  ${styleText('red', '✗')} ${name}  (${file}:${line})\n${lines.join('')}`;
}

function coloured(line: string): string {
  if (line.startsWith('-')) return styleText('red', line);
  return line.startsWith('+') ? styleText('green', line) : line;
}

/** Writes a summary such as `2 of 9 tests failed`. */
export function summarise(results: readonly CaseResult[]): string {
  const failed = results.filter(({ failure }) => failure.length > 0).length;
  const all = results.length === 1 ? '1 test' : `${results.length} tests`;
  return failed === 0 ? `${all} passed` : `${failed} of ${all} failed`;
}

/**
 * Opens an empty embedded engine in a temporary folder, even if the settings name a server: it works beside a service,
 * and creates no table on a server.
 *
 * @returns its `close` removes the folder
 */
export async function openTemporaryEngine(config: Config): Promise<Engine> {
  const dataDir = await mkdtemp(join(tmpdir(), 'tailrace-'));
  const remove = () => rm(dataDir, { recursive: true, force: true });
  try {
    const engine = await openEngine({ ...config, dataDir, clickhouseUrl: '' });
    return { ...engine, close: () => engine.close().finally(remove) };
  } catch (error) {
    await remove();
    throw error;
  }
}
