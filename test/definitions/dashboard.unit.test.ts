import { mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, expect, test } from 'vitest';
import { readDefinitions } from '../../src/definitions/read.ts';
import { formatFault } from '../../src/errors.ts';
import { findMissing, verifyDashboards } from '../../src/verify/dashboards.ts';
import { ownFolder } from '../support/service.ts';

const folder = await ownFolder();
const dashboardsDir = join(folder.path, 'dashboards');
const folders = { endpointsDir: 'template/endpoints', sourcesDir: 'template/sources', dashboardsDir };

beforeEach(async () => {
  await rm(dashboardsDir, { recursive: true, force: true });
  await mkdir(dashboardsDir);
});

const GOOD = `id: a0000000-0000-4000-8000-000000000001
name: checkout
title: Checkout
description: Whether it works.
range: 7d
parameters:
  project: aurora
rows:
  - height: 120
    panels:
      - endpoint: recent.events
        show: number
        title: Requests
        columns: [events]
        unit: req
      - show: text
        text: Call ops.
  - panels:
      - endpoint: failing.paths
        parameters: { project: borealis }
`;

async function read(...texts: string[]) {
  for (const [i, text] of texts.entries()) await writeFile(join(dashboardsDir, `${'abc'[i]}.yaml`), text);
  const { definitions, faults } = await readDefinitions(folders);
  const { dashboards = [], endpoints } = definitions;
  const own = faults.length > 0 ? faults : verifyDashboards(dashboards, endpoints);
  const format = (found: typeof own) =>
    found.map((fault) => formatFault(fault).replaceAll(`${dashboardsDir}/`, ''));
  return { dashboards, faults: format(own), missing: format(findMissing(dashboards, endpoints)) };
}

test('a dashboard has rows of panels, each with what it says about its endpoint', async () => {
  const { dashboards, faults, missing } = await read(GOOD);
  expect([faults, missing]).toEqual([[], []]);
  const [{ rows, ...dashboard } = { rows: [] }] = dashboards;
  expect(dashboard).toMatchObject({ name: 'checkout', title: 'Checkout', rangeSeconds: 7 * 86_400 });
  expect(dashboard).toMatchObject({ parameters: { project: 'aurora' } });
  expect(rows.map(({ heightPx, panels }) => `${heightPx} ${panels.length}`)).toEqual(['120 2', '220 1']);
  const all = rows.flatMap(({ panels }) => panels);
  expect(all).toMatchObject([
    { endpoint: 'recent.events', show: 'number', title: 'Requests', columns: ['events'], unit: 'req' },
    { show: 'text', text: 'Call ops.' },
    { endpoint: 'failing.paths', parameters: { project: 'borealis' }, columns: [] },
  ]);
  expect([all[1]?.endpoint, all[2]?.show]).toEqual([undefined, undefined]);
});

test.each<[right: string, wrong: string, line: number, message: string]>([
  ['name: checkout', 'name: Check Out', 2, '"name" must be words of small letters'],
  ['endpoint: recent.events\n        ', '', 11, '"endpoint" is missing: name one, or write "show: text"'],
  ['columns: [events]', 'columns: [n]', 14, 'recent.events has no column "n"; it has events'],
  ['project: borealis', 'id: 5', 20, 'failing.paths has no parameter "id"; it has project'],
])(
  '%j written as %j is a fault there, which says what would be right',
  async (...[right, wrong, line, message]) => {
    expect(GOOD).toContain(right);
    const { faults } = await read(GOOD.replace(right, () => wrong));
    const own = faults.filter((fault) => fault.startsWith(`a.yaml:${line}: `));
    expect(own.join('\n'), faults.join('\n')).toContain(message);
  },
);

test('three dashboards ship, without faults', async () => {
  const { definitions, faults } = await readDefinitions({ endpointsDir: '', sourcesDir: '' });
  const { dashboards = [], endpoints } = definitions;
  expect(dashboards.map(({ name }) => name)).toEqual(['functions', 'gateway', 'service']);
  expect(faults).toEqual([]);
  expect([...verifyDashboards(dashboards, endpoints), ...findMissing(dashboards, endpoints)]).toEqual([]);
});
