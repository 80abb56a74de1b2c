import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { Page } from 'playwright-core';
import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { KEY, makeKey, open, rowsOf, startBrowser, URL_OF_SERVICE } from './sampled.ts';

startBrowser();

const ROOT = join(import.meta.dirname, '../..');
const EDGE = 'cloudflare.logs.prod';
const FUNCTION_CALLS = 'deno-relay-logs';

async function read<T>(path: string): Promise<T> {
  const response = await fetch(URL_OF_SERVICE + path, { headers: { 'x-api-key': KEY } });
  return (await response.json()) as T;
}

/** A source's page, with the snippet for a sender chosen; its text as it is copied. */
async function snippetOf(source: string, sender: string, project: string): Promise<string> {
  const page = await open(`/sources/${source}`, { key: KEY });
  await page.getByLabel('Project of the events').fill(project);
  await page.getByRole('tab', { name: sender }).click();
  return await page.getByRole('region', { name: `Events to ${source} with ${sender}` }).innerText();
}

/** The YAML of the documentation for a sender. */
async function documented(sender: string): Promise<unknown> {
  const text = await readFile(join(ROOT, 'docs/ingest.md'), 'utf8');
  const block = text.slice(text.indexOf(`**${sender}.**`)).match(/```yaml\n([\s\S]*?)```/)?.[1] ?? '';
  return parse(block);
}

const environment = { PATH: process.env['PATH'] ?? '', TAILRACE_KEY: KEY };

describe('the sources', () => {
  test('are listed with what they hold, and each has a page', async () => {
    const page = await open('/sources', { key: KEY });
    const { sources } = await read<{ sources: { name: string; rows: number }[] }>('/api/overview');
    const line = page.getByRole('row').filter({ has: page.getByRole('link', { name: EDGE }) });
    await line.getByText('MiB').waitFor();
    expect(await page.getByRole('row').count()).toBe(1 + sources.length);
    expect(await line.innerText()).toContain('edge_logs');
    await page.getByRole('link', { name: EDGE, exact: true }).click();
    await page.getByRole('heading', { name: EDGE, level: 1 }).waitFor();
    expect(new URL(page.url()).pathname).toBe(`/sources/${EDGE}`);
  });

  test('show their fields: type, where they come from, what they mean', async () => {
    const page = await open(`/sources/${FUNCTION_CALLS}`, { key: KEY });
    await page.getByText('kept for 90 days').waitFor();
    const { result } = await read<{ result: { name: string; columns: Record<string, unknown>[] }[] }>(
      '/api/sources',
    );
    const columns = result.find(({ name }) => name === FUNCTION_CALLS)?.columns ?? [];
    expect(columns.length).toBe(3);
    for (const { name, type, description, path } of columns) {
      const line = page.getByRole('row').filter({ has: page.getByText(String(name), { exact: true }) });
      const text = await line.first().innerText();
      for (const part of [type, description, (path as string[]).join('.')]) expect(text).toContain(part);
    }
    const numbers = page.locator('.source-numbers');
    await expect.poll(() => numbers.innerText()).toMatch(/Rows[\s\S]*Oldest\s+7 d ago/);
  });

  test('say how many events belong to no project', async () => {
    const name = 'pgbouncer.logs.prod';
    const response = await fetch(`${URL_OF_SERVICE}/api/logs?source_name=${name}`, {
      method: 'POST',
      headers: { 'x-api-key': KEY, 'content-type': 'application/json' },
      body: '[{"event_message":"whose?"},{"event_message":"whose?"}]',
    });
    expect(response.status).toBe(200);
    const page = await open('/sources', { key: KEY });
    await page.getByText('2 events without a project since the start').waitFor();
    await page.getByRole('link', { name, exact: true }).click();
    await page.getByText('keys that pin a project cannot read them').waitFor();
  });

  test('are shown without numbers to a key that only sends, with its own project', async () => {
    const key = await makeKey({ scopes: ['ingest'], sources: [EDGE], pins: { project: 'aurora' } });
    const page = await open('/', { key }); // its first page
    await page.getByRole('link', { name: EDGE }).click();
    const project = page.getByLabel('Project of the events');
    expect([await project.inputValue(), await project.isDisabled()]).toEqual(['aurora', true]);
    expect(await page.getByText('On disk').count()).toBe(0);
  });

  test('that do not exist say where to go', async () => {
    const page = await open('/sources/no.such', { key: KEY });
    await page.getByText('No such source').waitFor();
  });
});

describe('a snippet', () => {
  test.each([360, 1280])('can be chosen for every sender at %i px', async (width) => {
    const page = await open(`/sources/${EDGE}`, { key: KEY, viewport: { width, height: 780 } });
    const tabs = page.getByRole('tablist', { name: 'Sender' });
    await tabs.waitFor();
    const list = await tabs.boundingBox();
    for (const tab of await tabs.getByRole('tab').all()) {
      const box = await tab.boundingBox();
      expect(box?.x).toBeGreaterThanOrEqual(list?.x ?? 0);
      expect((box?.x ?? 0) + (box?.width ?? 0)).toBeLessThanOrEqual((list?.x ?? 0) + (list?.width ?? 0));
    }
  });

  test('has an example for every text, without an article before it', async () => {
    const text = await snippetOf(EDGE, 'curl', 'aurora');
    expect(text).toContain('example ');
    expect(text).not.toMatch(/\ban? [a-z]/);
  });

  test('for curl stores an event with the columns of its source', async () => {
    const text = await snippetOf(FUNCTION_CALLS, 'curl', "it's from curl");
    expect(text).not.toContain(KEY);
    const { stdout } = await promisify(execFile)('sh', ['-c', text], { env: environment });
    expect(stdout).toBe('{"message":"Logged!"}');
    const rows = await rowsOf('functions.invocation-stats', { project: "it's from curl" });
    expect(rows).toMatchObject([{ count: 1, max_execution_time: 1.5 }]);
  });

  test('for Vector has the fields of the documentation, and this address and source', async () => {
    const sink = (parse(await snippetOf(EDGE, 'Vector', 'p 1')) as VectorFile).sinks['tailrace'];
    const [shown] = Object.values(((await documented('Vector')) as VectorFile).sinks);
    const { uri, inputs, request, ...rest } = sink ?? {};
    const { uri: _uri, inputs: _inputs, request: shownRequest, ...shownRest } = shown ?? {};
    expect(rest).toEqual(shownRest);
    expect(inputs).toHaveLength(1);
    expect(uri).toBe(`${URL_OF_SERVICE}/api/logs?source_name=${EDGE}`);
    expect(request).toEqual({
      headers: { ...(shownRequest as { headers: object }).headers, 'x-project': 'p 1' },
    });
  });

  test('for the OpenTelemetry Collector has the fields of the documentation, and this address and source', async () => {
    const file = parse(await snippetOf(EDGE, 'OpenTelemetry Collector', 'p1')) as CollectorFile;
    const shown = (await documented('OpenTelemetry Collector')) as CollectorFile;
    const [name = ''] = Object.keys(file.exporters);
    expect(Object.keys(shown.exporters)).toEqual([name]);
    expect(file.exporters[name]).toEqual({
      ...shown.exporters[name],
      logs_endpoint: `${URL_OF_SERVICE}/v1/logs`,
      headers: { ...shown.exporters[name]?.headers, 'X-Source': EDGE, 'X-Project': 'p1' },
    });
    expect(file.service.pipelines.logs.exporters).toEqual([name]);
  });

  test('for pino sends a line', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'tailrace-test-'));
    await symlink(join(ROOT, 'node_modules'), join(folder, 'node_modules'));
    const file = join(folder, 'snippet.mjs');
    await writeFile(file, await snippetOf(EDGE, 'pino', 'from-pino'));
    await promisify(execFile)(process.execPath, ['--preserve-symlinks', file], {
      env: environment,
      cwd: folder,
    });
    // Ending, pino-logflare 0.5.2 sends its last batch twice.
    const newest = async () => (await rowsOf('logs.all', { project: 'from-pino' }))[0];
    await expect.poll(newest).toMatchObject({ event_message: 'it works', metadata: { level: 'info' } });
    await rm(folder, { recursive: true });
  });

  test('is copied as it stands', async () => {
    const page: Page = await open(`/sources/${EDGE}`, {
      key: KEY,
      permissions: ['clipboard-read', 'clipboard-write'],
    });
    await page.getByRole('button', { name: 'Copy', exact: true }).click();
    await page.getByText('Copied').waitFor();
    const copied = await page.evaluate(() => navigator.clipboard.readText());
    expect(copied).toContain(`${URL_OF_SERVICE}/api/logs?source_name=${EDGE}`);
    expect(copied).not.toContain(KEY);
  });
});

interface VectorFile {
  readonly sinks: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
}

interface CollectorFile {
  readonly exporters: Readonly<Record<string, { readonly headers: object }>>;
  readonly service: { readonly pipelines: { readonly logs: { readonly exporters: readonly string[] } } };
}
