import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { toChart } from '../../console/src/page/alerts/chart.ts';
import { newAlert } from '../../console/src/page/workbench/definition.ts';
import { ALERTS } from '../../src/definitions/alert.ts';
import { parseYaml } from '../../src/definitions/yaml-file.ts';
import type { EndpointView } from '../../src/management/view.ts';

const COLUMNS = [
  { name: 'path', type: 'string', description: '', search: null },
  { name: 'failures', type: 'integer', description: '', search: 'status:>=500' },
  { name: 'down', type: 'boolean', description: '', search: null },
] as EndpointView['columns'];
const PARAMETERS = [{ name: 'project', required: true, default: '' }] as EndpointView['parameters'];
const ENDPOINT = {
  ...{ name: 'failing.paths', description: 'Fails.', columns: COLUMNS, parameters: PARAMETERS },
} as EndpointView;
const NOW_MS = Date.UTC(2026, 10, 20, 12);
const iso = (ms: number) => new Date(ms).toISOString();

test('a new alert begins with a file that has no fault of its own, and names what else it may say', () => {
  const given = { project: 'aurora', unused: '' };
  const served = { taken: ['failing.paths'], receivers: ['ops', 'on-call'] };
  const text = newAlert(ENDPOINT, given, served);
  const file = parseYaml('alert.yaml', `id: 024178ca-654c-4381-b4fc-e4b5ab01fde7\n${text}`);
  expect(Array.isArray(file) ? file : ALERTS.check(file)).toEqual([]);
  expect(parse(text)).toMatchObject({
    ...{ name: 'failing.paths.2', endpoint: 'failing.paths', parameters: { project: 'aurora' } },
    ...{ every: 60, when: { column: 'failures', above: 0 }, to: ['ops'] },
    text: 'failing.paths: failures is {{ failures }}',
  });
  for (const hint of ['# to: ops, on-call', '# per: [path, down]']) expect(text).toContain(hint);
  expect(text).not.toContain('unused');
  expect(parse(newAlert(ENDPOINT, {}, served))).toMatchObject({ parameters: { project: '' } });
});

test('the chart of an alert has the greatest value of each five minutes of a day, gaps, and the threshold', () => {
  const alert = {
    when: { column: 'failures', is: 'above' as const, value: 10 },
    every_seconds: 60,
    chart: {
      ...{ column: 'failures', threshold: 10 },
      points: [
        { at: iso(NOW_MS - 86_400_000 * 2), low: 99, high: 99 },
        { at: iso(NOW_MS - 600_000), low: 1, high: 7 },
        { at: iso(NOW_MS), low: 2, high: 12 },
        { at: iso(NOW_MS + 900_000), low: 99, high: 99 },
      ],
    },
  };
  const { spans, series } = toChart(alert, NOW_MS + 1_000, 'status:>=500');
  expect(spans).toHaveLength(288);
  expect(spans.at(-1)).toEqual({ from: NOW_MS / 1000, until: NOW_MS / 1000 + 300 });
  const [values, threshold] = series;
  expect(values?.values.slice(-4)).toEqual([null, 7, null, 12]);
  expect(values?.values.filter((one) => one !== null)).toHaveLength(2);
  expect([values?.label, values?.search]).toEqual(['Greatest failures', 'status:>=500']);
  expect([threshold?.label, new Set(threshold?.values)]).toEqual(['Threshold', new Set([10])]);
});
