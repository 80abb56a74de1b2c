import { afterAll, expect, test } from 'vitest';
import { mayRescan } from '../../src/sandbox/rescan.ts';
import { trusted } from '../../src/sql/sql.ts';
import { openSandbox } from './support.ts';

const { core, close } = await openSandbox();
afterAll(close);

const GOOD = [
  '[0-9]+',
  'GET /rest/([0-9]+)',
  '(GET|POST) /[a-z]+',
  'a.*b',
  '^.*$',
  'https?://[^/ ]+',
  '(?:ab){2,5}c+',
  '(ab|cd){2}x*',
  '[(|*]+',
  '\\(.*\\)|'.slice(0, -1),
  '(ab)+c',
  '\\Q(a*)?\\E',
  'x{2,}y',
];
const BAD = [
  '(.*~)?',
  '.(.*~)?',
  'a.*~|a',
  '(a.*~|a)',
  '((.*)~)?',
  '(.*~)*',
  '(.+~){0,1}',
  '(a{2,}b)?',
  'a|b*c',
  '(?:x(?:.*y))*z',
  '((a*))?',
];

test.each(GOOD)('%s looks at each part of a text once', (pattern) => {
  expect(mayRescan(pattern)).toBe(false);
});

test.each(BAD)('%s may look at it again and again', (pattern) => {
  expect(mayRescan(pattern)).toBe(true);
});

async function msOf(pattern: string, length: number): Promise<number> {
  const text = `repeat('aG1/rest xGET ', ${Math.round(length / 14)})`;
  const from = performance.now();
  await core.engine.inspect(trusted(`SELECT countMatches(${text}, '${pattern.replaceAll('\\', '\\\\')}')`));
  return performance.now() - from;
}

test('the engine is done with megabytes at once, except for what may look again: eight times the text, sixteen times the time', async () => {
  for (const pattern of GOOD) {
    await msOf(pattern, 1_000);
    expect([pattern, await msOf(pattern, 4_000_000)]).toEqual([
      pattern,
      expect.toSatisfy((ms) => ms < 4_000),
    ]);
  }
  const [short, long] = [await msOf('.(.*~)?', 5_000), await msOf('.(.*~)?', 40_000)];
  expect(long / short).toBeGreaterThan(16);
}, 120_000);
