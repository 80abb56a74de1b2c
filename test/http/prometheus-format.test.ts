import { spawnSync } from 'node:child_process';
import fc from 'fast-check';
import { afterAll, describe, expect, test } from 'vitest';
import { findProgram } from '../../scripts/programs.js';
import { startFormatsService } from '../support/formats.ts';
import { expectError, QUERY_PATH, request } from '../support/http.ts';
import { parseMetrics } from '../support/metrics.ts';
import { runs } from '../support/property.ts';
import { PRIVATE_KEY } from '../support/service.ts';

const service = await startFormatsService();
const { url, ask, fetchBytes } = service;
afterAll(service.close);

const promtool = findProgram('promtool');

/** Fails if promtool cannot read a text. Its advice on names is not a fault: the columns of an endpoint decide them. */
function expectReadable(text: string): void {
  if (promtool === undefined) return;
  const { stderr } = spawnSync(promtool, ['check', 'metrics'], { input: text, encoding: 'utf8' });
  expect(stderr).not.toMatch(/error while linting|parsing error/);
}

interface Row {
  readonly label: string;
  readonly other: string;
  readonly whole: string;
  readonly part: string;
}

async function write(rows: readonly Row[]) {
  const of = (name: keyof Row) => rows.map((row) => row[name]);
  const answer = await request(url, `${QUERY_PATH}/formats.samples-2`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-api-key': PRIVATE_KEY },
    body: JSON.stringify({
      ...{ labels: of('label'), others: of('other'), wholes: of('whole'), parts: of('part') },
      format: 'prometheus',
    }),
  });
  return answer;
}

const LETTER = fc.oneof(
  fc.constantFrom('\\', '"', '\n', '\r', '\t', '{', '}', ',', '#', ' ', 'é', '😀', '='),
  fc.string(),
);
const TEXT = fc.array(LETTER, { maxLength: 4 }).map((parts) => parts.join('').replaceAll('\0', ''));
const NUMBER = fc.oneof(
  fc.constantFrom('', 'nan', 'inf', '-inf', '0', '1e300', '-5e-324'),
  fc.double({ noNaN: true, noDefaultInfinity: true }).map(String),
);
const ROW = fc.record({
  label: TEXT,
  other: TEXT,
  whole: fc.oneof(fc.constant(''), fc.maxSafeInteger().map(String)),
  part: NUMBER,
});
const ROWS = fc.uniqueArray(ROW, {
  minLength: 1,
  maxLength: 60,
  selector: ({ label, other }) => JSON.stringify([label, other]),
});

describe('samples for Prometheus', () => {
  test('are what other programs read from any rows', async () => {
    await fc.assert(
      fc.asyncProperty(ROWS, async (rows) => {
        const { status, text } = await write(rows);
        expect([status, status === 200 ? '' : text]).toEqual([200, '']);
        expectReadable(text);
        const expected = (['whole', 'part'] as const).flatMap((name) =>
          rows.flatMap((row) => {
            const labels = Object.fromEntries(
              (['label', 'other'] as const).filter((one) => row[one] !== '').map((one) => [one, row[one]]),
            );
            const value = Number(row[name].replace('inf', 'Infinity').replace('nan', 'NaN'));
            return row[name] === '' ? [] : [{ name: `formats_samples_2_${name}`, labels, value }];
          }),
        );
        const byText = (all: readonly object[]) => all.map((one) => JSON.stringify(one, stable)).toSorted();
        expect(byText(parseMetrics(text).map(({ type: _, ...sample }) => sample))).toEqual(byText(expected));
      }),
      runs(30),
    );
  });

  test('of two rows with the same labels are an error that says what to do', async () => {
    const row = { label: 'a', other: '', whole: '1', part: '1' };
    const answer = await write([row, { ...row, whole: '2' }]);
    expect(answer.status).toBe(422);
    expect(answer.text).toContain('several rows have the same labels');
  });

  test('are of the newest row of each set of labels, if the rows have a time', async () => {
    const text = (await fetchBytes('formats.newest?count=9&format=prometheus')).toString();
    const data = String.raw`data="{\"a\":[1]}"`;
    expect(text.split('\n').filter((line) => !line.startsWith('#'))).toEqual([
      `formats_newest_value{parity="even",flag="true",${data}} 8`,
      `formats_newest_value{parity="odd",flag="true",${data}} 7`,
      `formats_newest_timestamp{parity="even",flag="true",${data}} 4`,
      `formats_newest_timestamp{parity="odd",flag="true",${data}} 3`,
      '',
    ]);
    expect((await fetchBytes('formats.newest?count=0&format=prometheus')).length).toBe(0);
  });

  test.each([
    ['logs.all', '?project=aurora', /needs an integer or number column besides the time/],
    ['formats.reserved', '?', /names that begin with __ .* rename the column __name__/],
    ['formats.views', `?sql=${encodeURIComponent('SELECT id FROM typed')}`, /leave out "sql"/],
  ])('are refused for %s%s', async (name, query, message) => {
    const answer = await ask(`${name}${query}&format=prometheus`);
    expectError(answer, 'invalid_parameter');
    expect(answer.body.error.errors).toEqual([
      { parameter: 'format', message: expect.stringMatching(message) },
    ]);
    const accept = await ask(`${name}${query}`, { accept: 'text/plain;version=0.0.4;q=0.5, */*;q=0.1' });
    if (name !== 'formats.views') expect(accept.headers.get('content-type')).toMatch(/^application\/json/);
  });
});

const stable = (_: string, value: unknown) => {
  if (typeof value === 'number' && !Number.isFinite(value)) return String(value);
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  return Object.fromEntries(Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1)));
};
