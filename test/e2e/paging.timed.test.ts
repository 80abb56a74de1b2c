import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { KEY, open, startBrowser, URL_OF_SERVICE } from './sampled.ts';

startBrowser();

const PROJECT = 'paging';
const STORED = 250;
const NEWER = 30;
const SAME_INSTANT = 7;

/** Events whose messages say their place: 0 is the oldest. Seven share an instant, so that pages end amid equals. */
async function send(from: number, count: number, startMs: number): Promise<void> {
  const events = Array.from({ length: count }, (_, i) => ({
    project: PROJECT,
    timestamp: new Date(startMs + Math.floor((from + i) / SAME_INSTANT) * 1000).toISOString(),
    event_message: `event ${from + i}`,
    metadata: { place: from + i },
  }));
  const response = await fetch(`${URL_OF_SERVICE}/api/logs?source_name=cloudflare.logs.prod`, {
    method: 'POST',
    headers: { 'x-api-key': KEY, 'content-type': 'application/json' },
    body: JSON.stringify(events),
  });
  expect(response.status).toBe(200);
}

/** Places of all entries of the list, from its top to its end: it draws only what is looked at. */
async function placesOf(page: Page): Promise<number[]> {
  const list = page.getByRole('region', { name: 'Lines, newest first' });
  const texts = await list.evaluate(async (element) => {
    const found = new Map<number, string>();
    for (let top = 0; top <= element.scrollHeight; top += 400) {
      element.scrollTop = top;
      await new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve)));
      for (const line of element.querySelectorAll<HTMLElement>('li')) {
        found.set(Number(line.dataset['index']), line.querySelector('.line-message')?.textContent ?? '');
      }
    }
    return [...found].sort(([a], [b]) => a - b).map(([, text]) => text);
  });
  return texts.map((text) => Number(text.replace('event ', '')));
}

const sorted = (places: readonly number[]) => places.toSorted((a, b) => a - b);
const range = (from: number, to: number) => Array.from({ length: to - from }, (_, i) => from + i);

test('logs are paged through to the end while newer ones come in: each entry once, none left out', async () => {
  const startMs = Math.floor(Date.now() / 1000) * 1000 - 600_000;
  await send(0, STORED, startMs);
  const page = await open(`/endpoints/logs.all?project=${PROJECT}&project_tier=ENTERPRISE`, { key: KEY });
  const list = page.getByRole('region', { name: 'Lines, newest first' });
  const count = page.getByRole('status').filter({ hasText: 'lines' });
  await expect.poll(() => count.innerText()).toBe('100 lines');

  await send(STORED, NEWER, startMs);
  const scrolled = async () => {
    await list.evaluate((one) => one.scrollTo(0, one.scrollHeight));
    return await count.innerText();
  };
  // What came in is newer than all that is shown: it moves no page and is not mixed into one.
  await expect.poll(scrolled).toBe(`${STORED} lines, all`);
  const places = await placesOf(page);
  expect(sorted(places)).toEqual(range(0, STORED));
  expect(places).toEqual(
    places.toSorted((a, b) => Math.floor(b / SAME_INSTANT) - Math.floor(a / SAME_INSTANT)),
  );

  await page.getByRole('button', { name: 'Live' }).click();
  // The list is scrolled, so they wait.
  await page.getByRole('button', { name: `${NEWER} new`, exact: true }).click({ timeout: 60_000 });
  await expect.poll(() => count.innerText(), { timeout: 60_000 }).toBe(`${STORED + NEWER} lines, all`);
  expect(sorted(await placesOf(page))).toEqual(range(0, STORED + NEWER));
});
