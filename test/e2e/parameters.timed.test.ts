import { afterAll, expect, test } from 'vitest';
import { writeDefinitions } from '../sandbox/support.ts';
import { writeEveryType } from '../support/every-type.ts';
import { PRIVATE_KEY, startTestService } from '../support/service.ts';
import { open, run, startBrowser } from './sampled.ts';

startBrowser();

const definitions = await writeDefinitions();
await writeEveryType(definitions.path);
const service = await startTestService({ env: definitions.env });
afterAll(async () => {
  await service.close();
  await definitions.remove();
});

test('a form has an input for each type, and sends what is in it', async () => {
  const page = await open('/endpoints/every.type', {
    key: PRIVATE_KEY,
    origin: service.url,
    expected: [400],
  });
  const kinds: [name: string, tag: string, type: string | null][] = [
    ['s', 'INPUT', 'text'],
    ['e', 'SELECT', null],
    ['t', 'INPUT', 'datetime-local'],
    ['r', 'INPUT', 'text'],
    ['i', 'INPUT', 'number'],
    ['n', 'INPUT', 'number'],
    ['b', 'SELECT', null],
    ['d', 'INPUT', 'date'],
    ['u', 'INPUT', 'text'],
    ['l', 'INPUT', 'text'],
  ];
  const controlOf = (name: string) => page.getByLabel(name, { exact: true });
  for (const [name, tag, type] of kinds) {
    const control = controlOf(name);
    expect([name, await control.evaluate((one) => one.tagName), await control.getAttribute('type')]).toEqual([
      name,
      tag,
      type,
    ]);
  }
  await controlOf('i').fill('-9007199254740993');
  await controlOf('n').fill('0.25');
  await controlOf('b').selectOption('false');
  await controlOf('d').fill('2026-11-20');
  await controlOf('l').fill('3,4');
  await run(page);
  expect(Object.fromEntries(new URL(page.url()).searchParams)).toMatchObject({
    i: '-9007199254740993',
    n: '0.25',
    b: 'false',
    d: '2026-11-20',
    l: '3,4',
  });
  await page.getByText('[3,4]').first().waitFor();
  await controlOf('l').fill('3,x');
  await run(page);
  await page.getByText('has "x", which must be a whole number, such as 1').first().waitFor();
});
