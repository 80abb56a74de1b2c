import { describe, expect, test } from 'vitest';
import { findChartFaults } from '../../src/definitions/checks/chart.ts';
import { checkEndpointShape, createEndpoint, endpointFields } from '../../src/definitions/endpoint.ts';
import { parseYaml, toFaults } from '../../src/definitions/yaml-file.ts';
import { formatFault } from '../../src/errors.ts';

const HEAD = `id: a0000000-0000-4000-8000-000000000001
name: test.one
description: A test.
max_rows: 1000
caching: disabled
columns:
  at: { type: integer, description: Start of the hour. }
  path: { type: string, description: Path. }
  n: { type: integer, description: Requests. }
  ms: { type: number, description: Time. }
  body: { type: json, description: JSON. }
`;

function read(chart: string) {
  const file = parseYaml('endpoint.yaml', `${HEAD}${chart}\n`);
  if (Array.isArray(file)) throw new Error('it is not YAML');
  const shape = checkEndpointShape(file);
  const faults = shape.length > 0 ? shape : toFaults(file, findChartFaults(endpointFields(file)));
  const sql = { file: 'query.sql', text: 'SELECT 1' };
  const { charts } =
    faults.length > 0 ? { charts: [] } : createEndpoint(file, sql, { fileHash: '', hash: '', sources: [] });
  return { charts, faults: faults.map(formatFault) };
}

describe('chart', () => {
  test('is one map, or a list of them, each with defaults', () => {
    const one = read('chart: { time: at, series: path, values: [n] }');
    const chart = {
      ...{ show: 'line', title: undefined, time: 'at', series: 'path', values: ['n'], unit: undefined },
      ...{ band: [], bad: [], top: undefined, thresholds: [] },
    };
    expect(one).toEqual({ faults: [], charts: [chart] });
    const two = read(`chart:
  - { show: number, values: [ms], unit: ms, thresholds: [{ below: 5, severity: warning, label: idle }] }
  - { show: bar, series: path, values: [n], top: 50 }`);
    expect(two.faults).toEqual([]);
    expect(two.charts.map(({ show }) => show)).toEqual(['number', 'bar']);
    expect(two.charts[0]?.thresholds).toEqual([
      { is: 'below', value: 5, severity: 'warning', label: 'idle' },
    ]);
    expect(read('').charts).toEqual([]);
  });

  test.each([
    ['{ time: at }', '"values" is missing: the columns to draw'],
    ['{ time: at, series: path, values: [n], top: 8 }', '"top" must be at most 7 with "time"'],
    ['{ values: [n] }', '"time" is missing: "show: line" draws over time'],
    ['{ time: at, values: [n, n] }', '"values" must be a list of 1 to 12 different columns, not ["n","n"]'],
  ])('%s is rejected with the line and what would be right', (chart, message) => {
    const fault = expect.stringMatching(/^endpoint\.yaml:12: /);
    const { faults } = read(`chart: ${chart}`);
    expect(faults).toContainEqual(fault);
    expect(faults.join('\n')).toContain(message);
  });
});
