import { afterAll, expect, test } from 'vitest';
import { startFormatsService } from '../support/formats.ts';
import { QUERY_PATH, request } from '../support/http.ts';
import { parseMetrics } from '../support/metrics.ts';

const service = await startFormatsService();
const { url, fetchBytes } = service;
afterAll(service.close);
type Sample = ReturnType<typeof parseMetrics>[number];

test('samples for Prometheus are read as they are, whatever is in labels and values', async () => {
  const labels = ['', '\\', '"', 'a\nb\r\t', '{x="y"} 1 # ,', 'é😀'];
  const parts = ['', 'nan', 'inf', '-inf', '1e300', '-5e-324'];
  const answer = await request(url, `${QUERY_PATH}/formats.samples-2`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({
      ...{ labels, others: labels.map((_, i) => `${i}`), wholes: labels.map((_, i) => `${-i}`), parts },
      format: 'prometheus',
    }),
  });
  expect(answer.status, answer.text).toBe(200);
  const byNumber = (a: Sample, b: Sample) => Number(a.labels['other']) - Number(b.labels['other']);
  const samples = parseMetrics(answer.text).toSorted(byNumber);
  const of = (name: string) => samples.filter((one) => one.name === `formats_samples_2_${name}`);
  expect(of('whole').map((one) => one.labels)).toEqual(
    labels.map((label, i) => ({ ...(label !== '' && { label }), other: `${i}` })),
  );
  expect(of('whole').map(({ value }) => value)).toEqual(labels.map((_, i) => 0 - i));
  expect(of('part').map(({ value }) => value)).toEqual([
    ...[Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY, 1e300, -5e-324],
  ]);
});

test('samples for Prometheus are of the newest row of each set of labels, if the rows have a time', async () => {
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
