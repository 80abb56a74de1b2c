import { existsSync } from 'node:fs';
import AxeBuilder from 'axe-core';
import { type Browser, type BrowserContext, chromium, type Locator, type Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, expect } from 'vitest';
import { findProgram } from '../../scripts/programs.js';

// Without the network flags Chromium sends requests of its own.
const FLAGS = [
  ...['--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-sync'],
  ...['--disable-background-networking', '--disable-component-update'],
];

// Ends a wait for what never comes; far above what anything takes on a busy machine.
const WAIT_MS_MAX = 120_000;

export const DESKTOP = { width: 1280, height: 860 };
export const PHONE = { width: 360, height: 780 };

export interface OpenOptions {
  /** Signs in with it before the page is loaded; without one the sign-in page is shown. */
  readonly key?: string;
  /** Default: `DESKTOP`. */
  readonly viewport?: typeof DESKTOP;
  /** As another person: shares no session, storage or cache with the other pages of the test. */
  readonly apart?: boolean;
  /** Status codes of responses, and texts of errors, that the test provokes: a browser logs an error about each. */
  readonly expected?: readonly (number | string)[];
}

let browser: Browser;
let origin: string;
let provider: string | undefined;
let shared: BrowserContext;
const apart: BrowserContext[] = [];
const complaints: string[] = [];

/**
 * Starts a browser for the tests of a file, which share its HTTP cache. A test begins signed out, with empty storage. An error or a
 * warning that a page logs, and a request to another host, fail the test.
 *
 * @param url of the service that `open` opens
 * @param providerUrl the one other origin to which a page may lead
 */
export function startBrowser(url: string, providerUrl?: string): void {
  origin = url;
  provider = providerUrl;
  beforeAll(async () => {
    if (!existsSync('console/dist/index.html')) {
      throw new Error('the console is not built: npm run build:console');
    }
    browser = await chromium.launch({ executablePath: executablePath(), args: FLAGS, timeout: WAIT_MS_MAX });
    shared = await newContext();
  });
  afterEach(async () => {
    for (const context of apart.splice(0)) await context.close();
    await forgetEverything();
    expect(complaints.splice(0)).toEqual([]);
  });
  afterAll(async () => {
    await browser.close();
  });
}

function executablePath(): string {
  const path = findProgram('chromium');
  if (path !== undefined) return path;
  throw new Error('the browser tests need Chromium: apt-get install chromium, or put one into PATH');
}

async function newContext(): Promise<BrowserContext> {
  const context = await browser.newContext({
    timezoneId: 'Europe/Berlin',
    permissions: ['clipboard-read', 'clipboard-write'],
  });
  context.setDefaultTimeout(WAIT_MS_MAX);
  return context;
}

/** Closes the pages and removes all that they stored, except the HTTP cache. */
async function forgetEverything(): Promise<void> {
  for (const page of shared.pages()) await page.close();
  const blank = await shared.newPage();
  const debugging = await shared.newCDPSession(blank);
  await debugging.send('Storage.clearDataForOrigin', { origin, storageTypes: 'cookies,local_storage' });
  await blank.close();
}

/** Opens a path of the service. */
export async function open(path: string, options: OpenOptions = {}): Promise<Page> {
  const { key, viewport = DESKTOP, expected = [] } = options;
  const context = options.apart === true ? await newContext() : shared;
  if (context !== shared) apart.push(context);
  const page = await context.newPage();
  watch(page, expected);
  await page.setViewportSize(viewport);
  if (key !== undefined) {
    await page.addInitScript((text) => sessionStorage.setItem('tailrace.key', text), key);
  }
  await page.goto(origin + path);
  return page;
}

function watch(page: Page, expected: NonNullable<OpenOptions['expected']>): void {
  page.on('console', (message) => {
    const isExpected = expected.some((one) =>
      message.text().includes(typeof one === 'number' ? `status of ${one}` : one),
    );
    if (['error', 'warning'].includes(message.type()) && !isExpected) complaints.push(message.text());
  });
  page.on('pageerror', (error) => complaints.push(error.message));
  page.on('request', (request) => {
    const url = new URL(request.url());
    if (![origin, provider].includes(url.origin) && url.protocol !== 'data:')
      complaints.push(`a request to ${url}`);
  });
}

/** Signs in by hand. */
export async function signIn(page: Page, key: string): Promise<void> {
  await page.getByLabel('API key').fill(key);
  await page.getByRole('button', { name: 'Sign in' }).click();
}

/** Texts of elements as they are shown, with one space between words. */
export async function textsOf(elements: Locator): Promise<string[]> {
  return (await elements.allInnerTexts()).map((text) => text.replaceAll(/\s+/g, ' ').trim());
}

/** Runs the form of an endpoint and waits for its answer. */
export async function run(page: Page): Promise<void> {
  const answered = page.waitForResponse((response) => response.url().includes('/api/endpoints/query/'));
  await page.getByRole('button', { name: 'Run', exact: true }).click();
  await (await answered).finished();
}

// Rules about colours: all others find the same in both schemes.
const COLOUR_RULES = ['color-contrast', 'link-in-text-block'];

/** Faults that axe-core finds by WCAG 2.2 A and AA and its own best practices, in light and in dark colours. */
export async function faultsOf(page: Page): Promise<string[]> {
  // Through the debugger, to which the page's Content-Security-Policy does not apply.
  await page.evaluate(AxeBuilder.source);
  const faults: string[] = [];
  for (const colorScheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' }); // no colours between two
    await page.locator(`html[data-theme="${colorScheme}"]`).waitFor();
    const found = await page.evaluate(
      async (only) => {
        const { axe } = window as unknown as { axe: typeof import('axe-core') };
        const { violations } = await axe.run(only.length > 0 ? { runOnly: [...only] } : {});
        return violations.flatMap(({ id, nodes }) =>
          nodes.map((node) => `${id}: ${node.html.slice(0, 200)} ${node.failureSummary ?? ''}`),
        );
      },
      colorScheme === 'light' ? [] : COLOUR_RULES,
    );
    faults.push(...found.map((fault) => `${colorScheme}: ${fault}`));
  }
  return faults;
}

/** How many pixels the page is wider than the window. */
export async function overflowOf(page: Page): Promise<number> {
  return await page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth);
}
