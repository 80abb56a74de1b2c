import AxeBuilder from 'axe-core';
import {
  type Browser,
  type BrowserContext,
  type BrowserContextOptions,
  chromium,
  type Page,
} from 'playwright-core';
import { afterAll, afterEach, beforeAll, expect, inject } from 'vitest';

const { url, key: ownKey, browser: executablePath } = inject('console');
export const URL_OF_SERVICE = url;
/** With every scope. */
export const KEY = ownKey;

// Without the network flags Chromium asks hosts of its own, which are none of the page's doing.
const FLAGS = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];

export interface OpenOptions extends BrowserContextOptions {
  /** Signs in with it before the page is loaded; without one the sign-in page is shown. */
  readonly key?: string;
  /** Runs in the page before everything else. */
  readonly script?: () => void;
  /** Of another service than the one that all tests share. */
  readonly origin?: string;
  /** Status codes of answers, and texts of errors, that the test provokes: a browser writes an error about each. */
  readonly expected?: readonly (number | string)[];
}

let browser: Browser;
const contexts: BrowserContext[] = [];
const complaints: string[] = [];

/** Starts a browser for the tests of a file. Whatever a page complains of, and each request to elsewhere, fails the test. */
export function startBrowser(): void {
  beforeAll(async () => {
    browser = await chromium.launch({ executablePath, args: FLAGS });
  });
  afterEach(async () => {
    for (const context of contexts.splice(0)) await context.close();
    expect(complaints.splice(0)).toEqual([]);
  });
  afterAll(async () => {
    await browser.close();
  });
}

/** Opens a path of the service in a browser of its own: no storage, no cache. */
export async function open(path: string, options: OpenOptions = {}): Promise<Page> {
  const { key, script, origin = URL_OF_SERVICE, expected = [], ...rest } = options;
  const context = await browser.newContext({
    viewport: { width: 1280, height: 860 },
    timezoneId: 'Europe/Berlin',
    ...rest,
  });
  contexts.push(context);
  context.setDefaultTimeout(30_000); // a busy machine may be late
  const page = await context.newPage();
  watch(page, origin, expected);
  if (key !== undefined) {
    await page.addInitScript((text) => sessionStorage.setItem('tailrace.key', text), key);
  }
  if (script !== undefined) await page.addInitScript(script);
  await page.goto(origin + path);
  return page;
}

function watch(page: Page, own: string, expected: NonNullable<OpenOptions['expected']>): void {
  page.on('console', (message) => {
    const isExpected = expected.some((one) =>
      message.text().includes(typeof one === 'number' ? `status of ${one}` : one),
    );
    if (['error', 'warning'].includes(message.type()) && !isExpected) complaints.push(message.text());
  });
  page.on('pageerror', (error) => complaints.push(error.message));
  page.on('request', (request) => {
    const { origin, protocol } = new URL(request.url());
    if (origin !== own && protocol !== 'data:') complaints.push(`a request to ${request.url()}`);
  });
}

/** Signs in by hand. */
export async function signIn(page: Page, key: string): Promise<void> {
  await page.getByLabel('API key').fill(key);
  await page.getByRole('button', { name: 'Sign in' }).click();
}

/** Runs the form of an endpoint and waits for its answer. */
export async function run(page: Page): Promise<void> {
  const answered = page.waitForResponse((response) => response.url().includes('/api/endpoints/query/'), {
    timeout: 60_000,
  });
  await page.getByRole('button', { name: 'Run', exact: true }).click();
  await (await answered).finished();
}

/** Rows of an endpoint, asked for past the console. */
export async function rowsOf(name: string, parameters: Readonly<Record<string, string>>) {
  const query = new URLSearchParams(parameters);
  const response = await fetch(`${URL_OF_SERVICE}/api/endpoints/query/${name}?${query}`, {
    headers: { 'x-api-key': KEY },
  });
  expect(response.status).toBe(200);
  return ((await response.json()) as { result: Record<string, number | string>[] }).result;
}

/** Text of a key with these rights, as `POST /api/keys` takes them. */
export async function makeKey(fields: object): Promise<string> {
  const response = await fetch(`${URL_OF_SERVICE}/api/keys`, {
    method: 'POST',
    headers: { 'x-api-key': KEY, 'content-type': 'application/json' },
    body: JSON.stringify({ name: 'a test', scopes: ['query'], ...fields }),
  });
  expect(response.status).toBe(201);
  return ((await response.json()) as { key: string }).key;
}

/** What axe-core finds fault with, by WCAG 2.2 A and AA and its own best practices; or by some rules only. */
export async function faultsOf(page: Page, rules: readonly string[] = []): Promise<string[]> {
  // Through the debugger, which the page's Content-Security-Policy has no say in.
  await page.evaluate(AxeBuilder.source);
  return await page.evaluate(async (only) => {
    const { axe } = window as unknown as { axe: typeof import('axe-core') };
    const { violations } = await axe.run(only.length > 0 ? { runOnly: [...only] } : {});
    return violations.flatMap(({ id, nodes }) =>
      nodes.map((node) => `${id}: ${node.html.slice(0, 200)} ${node.failureSummary ?? ''}`),
    );
  }, rules);
}

// Rules about colours: all others find the same in both schemes.
const COLOUR_RULES = ['color-contrast', 'link-in-text-block'];

/** The same, in light and in dark colours as the system has them. */
export async function faultsInBothSchemes(page: Page): Promise<string[]> {
  const faults: string[] = [];
  for (const colorScheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' }); // colours that fade are of neither
    await page.locator(`html[data-theme="${colorScheme}"]`).waitFor();
    const rules = colorScheme === 'light' ? [] : COLOUR_RULES;
    faults.push(...(await faultsOf(page, rules)).map((fault) => `${colorScheme}: ${fault}`));
  }
  return faults;
}

/** Whether the page is wider than the window. */
export async function overflowOf(page: Page): Promise<number> {
  return await page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth);
}
