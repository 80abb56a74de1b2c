import { expect, test } from 'vitest';
import { KEY, makeKey, open, startBrowser, URL_OF_SERVICE } from './sampled.ts';

startBrowser();

async function send(events: readonly object[], key = KEY): Promise<number> {
  const { status } = await fetch(`${URL_OF_SERVICE}/api/logs?source=logs`, {
    method: 'POST',
    headers: { 'x-api-key': key, 'content-type': 'application/json' },
    body: JSON.stringify(events),
  });
  return status;
}

test('the events of a project are counted, then deleted once its name is written', async () => {
  const project = `gone-${Date.now()}`;
  expect(await send([{ project }, { project }])).toBe(200);
  const page = await open('/admin', { key: KEY });
  await page.getByRole('tab', { name: 'Delete events' }).click();
  expect(new URL(page.url()).search).toBe('?show=deletion');
  await page.getByLabel('Project', { exact: true }).fill(project);
  await page.getByRole('button', { name: 'Count the events' }).click();
  await page.getByText('2 events would be deleted').waitFor();
  await page.getByRole('button', { name: 'Delete 2 events…' }).click();
  const dialog = page.getByRole('dialog', { name: 'Delete 2 events?' });
  const confirm = dialog.getByRole('button', { name: 'Delete the events' });
  expect(await confirm.isDisabled()).toBe(true);
  await dialog.getByRole('textbox').fill(project);
  await confirm.click();
  await page.getByText('2 events are deleted.').waitFor();
  await page.getByRole('button', { name: 'Count the events' }).click();
  await page.getByText('No event matches.').waitFor();
});

test('what was rejected is listed with its key, reason and event; a limited key may not delete', async () => {
  const key = await makeKey({ name: 'old sender', scopes: ['ingest'] });
  expect(await send([{ timestamp: '1999-01-01T00:00:00Z', event_message: 'long ago' }], key)).toBe(406);
  const page = await open('/admin?show=events', { key: KEY });
  const line = page.getByRole('row', { name: /is older than the .* old sender/ });
  await line.getByText('The last one').click();
  await line.getByText('"event_message":"long ago"').waitFor();
  const limited = await makeKey({ scopes: ['manage'], pins: { project: 'aurora' } });
  const other = await open('/admin?show=deletion', { key: limited });
  await other.getByText('This key may not delete events').waitFor();
});
