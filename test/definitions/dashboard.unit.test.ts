import { mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeEach, describe, expect, test } from 'vitest';
import { formatFault } from '../../src/definitions/fault.ts';
import { findFolders, keepFolders } from '../../src/definitions/folders.ts';
import { readDefinitions } from '../../src/definitions/read.ts';
import { findMissing, verifyDashboards } from '../../src/verify/dashboards.ts';
import { temporaryFolder } from '../support/service.ts';

const folder = await temporaryFolder();
afterAll(folder.remove);
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

describe('a dashboard', () => {
  test('has rows of panels, each with what it says about its endpoint', async () => {
    const { dashboards, faults, missing } = await read(GOOD);
    expect([faults, missing]).toEqual([[], []]);
    const none = { parameters: {}, show: undefined, title: undefined, columns: [], unit: undefined };
    expect(dashboards).toMatchObject([
      {
        ...{ name: 'checkout', title: 'Checkout', rangeSeconds: 7 * 86_400 },
        parameters: { project: 'aurora' },
        rows: [
          {
            heightPx: 120,
            panels: [
              {
                ...{ endpoint: 'recent.events', parameters: {}, show: 'number', title: 'Requests' },
                ...{ columns: ['events'], unit: 'req', text: undefined },
              },
              { ...none, endpoint: undefined, show: 'text', text: 'Call ops.' },
            ],
          },
          {
            heightPx: 220,
            panels: [
              { ...none, endpoint: 'failing.paths', parameters: { project: 'borealis' }, text: undefined },
            ],
          },
        ],
      },
    ]);
  });

  test('is missing a panel, not refused, if its endpoint was removed', async () => {
    const { faults, missing } = await read(GOOD.replace('endpoint: recent.events', 'endpoint: gone'));
    expect(faults).toEqual([]);
    expect(missing).toEqual([
      'a.yaml:11: no endpoint is called "gone"; there are failing.paths, recent.events, slow.functions',
    ]);
  });

  test('shares neither id nor name with another one', async () => {
    const { faults } = await read(GOOD, GOOD);
    expect(faults).toEqual([
      expect.stringMatching(/^b\.yaml:1: id .* is already taken by .*a\.yaml$/),
      expect.stringMatching(/^b\.yaml:2: name "checkout" is already taken by .*a\.yaml$/),
    ]);
  });
});

/** [what is written, what is written instead, line, part of the message] */
const MUTATIONS: readonly (readonly [string, string, number, string])[] = [
  ['id: a0000000-0000-4000-8000-000000000001', 'id: 5', 1, '"id" must be'],
  ['id: a0000000-0000-4000-8000-000000000001\n', '', 1, '"id" is missing'],
  ['name: checkout', 'name: Check Out', 2, '"name" must be words of small letters'],
  ['name: checkout\n', '', 1, '"name" is missing'],
  ['title: Checkout\n', '', 1, '"title" is missing'],
  ['title: Checkout', "title: ''", 3, '"title" must be a text of 1 to 100 characters'],
  ['title: Checkout', 'title: [a]', 3, '"title" must be'],
  ['description: Whether it works.', 'description: 5', 4, '"description" must be a text of at most'],
  ['range: 7d', 'range: 7', 5, '"range" must be a number of minutes, hours or days, such as 30m, 24h or 7d'],
  ['range: 7d', 'range: 0h', 5, '"range" must be'],
  ['range: 7d', 'range: 7w', 5, '"range" must be'],
  ['range: 7d', 'range: last week', 5, '"range" must be'],
  ['range: 7d', 'ranges: 7d', 5, 'unknown field "ranges"; known here: id, name, title'],
  ['  project: aurora', '  project: [a, b]', 7, '"project" must be a text, a number, true or false'],
  [
    '  project: aurora',
    '  projekt: aurora',
    7,
    'no endpoint of this file has a parameter "projekt"; they have project',
  ],
  ['  project: aurora', '  "a b": c', 7, '"a b" must be a map of at most 20 parameters'],
  ['parameters:\n  project: aurora', 'parameters: aurora', 6, '"parameters" must be a map'],
  ['rows:', 'row:', 8, 'unknown field "row"'],
  ['height: 120', 'height: 12', 9, '"height" must be a whole number of pixels from 80 to 1000, not 12'],
  ['height: 120', 'height: tall', 9, '"height" must be'],
  ['height: 120', 'height: 5000', 9, '"height" must be'],
  ['height: 120', 'heights: 120', 9, 'unknown field "heights"; known here: height, panels'],
  ['endpoint: recent.events', 'endpoint: 5', 11, '"endpoint" must be the name or UUID of an endpoint'],
  ['endpoint: recent.events', 'endpoints: recent.events', 11, 'unknown field "endpoints"'],
  [
    'endpoint: recent.events\n        ',
    '',
    11,
    '"endpoint" is missing: name one, or write "show: text" and "text"',
  ],
  [
    'show: number',
    'show: pie',
    12,
    '"show" must be one of line, bar, stacked, table, number, text, not "pie"',
  ],
  ['show: number', 'show: text', 11, '"endpoint" is of an endpoint; remove it or "show: text"'],
  ['show: number', 'show: line, bar', 12, '"show" must be'],
  ['title: Requests', 'title: ""', 13, '"title" must be'],
  ['columns: [events]', 'columns: [n]', 14, 'recent.events has no column "n"; it has events'],
  ['columns: [events]', 'columns: events', 14, '"columns" must be a list of 1 to 12 different columns'],
  ['columns: [events]', 'columns: []', 14, '"columns" must be'],
  ['columns: [events]', 'columns: [events, events]', 14, '"columns" must be'],
  ['unit: req', 'unit: 5', 15, '"unit" must be a text of 1 to 20 characters'],
  ['unit: req', 'unit: requests for each second of it', 15, '"unit" must be'],
  ['text: Call ops.', 'text: ""', 17, '"text" must be a text of 1 to 4000 characters'],
  ['text: Call ops.', 'title: Ops', 16, '"text" is missing: the text that the panel shows'],
  ['text: Call ops.', 'text: Call ops.\n        unit: ms', 18, '"unit" is of an endpoint'],
  ['project: borealis', 'id: 5', 20, 'failing.paths has no parameter "id"; it has project'],
  [
    'parameters: { project: borealis }',
    'parameters: borealis',
    20,
    '"parameters" must be a map of parameters',
  ],
  [
    'parameters: { project: borealis }',
    'parameters: { project: { a: 1 } }',
    20,
    '"project" must be the value',
  ],
  [
    'parameters: { project: borealis }',
    'columns: [path]\n        show: line',
    20,
    'column "path" is of type string; "show: line" draws integers and numbers',
  ],
  [
    '  - panels:\n      - endpoint: failing.paths',
    '  - panel:\n      - endpoint: failing.paths',
    18,
    'unknown field "panel"',
  ],
  [
    '      - endpoint: failing.paths\n        parameters: { project: borealis }\n',
    '      []\n',
    18,
    '"panels" must be a list of 1 to 6 panels',
  ],
  ['name: checkout', 'name: checkout\nname: other', 3, 'unique'],
  ['range: 7d', 'range: {', 6, ''],
  ['range: 7d', 'range: !!js x', 5, ''],
  ['\n', '\n\t', 2, ''],
];

test.each(MUTATIONS)(
  '%j written as %j is a fault there, which says what would be right',
  async (right, wrong, line, message) => {
    expect(GOOD).toContain(right);
    const { faults } = await read(GOOD.replace(right, () => wrong));
    const own = faults.filter((fault) => fault.startsWith(`a.yaml:${line}: `));
    expect(own.join('\n'), faults.join('\n')).toContain(message);
    expect(own.length).toBeGreaterThan(0);
  },
);

const WRONG = ['null', '1', 'true', '[]', '{}', "''", '{ a: 1 }', '[[x]]'];

test('a hundred other mutations each have a line and an expectation', async () => {
  const lines = GOOD.split('\n');
  const places = lines.flatMap((line, at) => (/^\s*(?:- )?\w+: \S/.test(line) ? [at] : []));
  let tried = 0;
  for (const at of places)
    for (const wrong of WRONG) {
      const changed = lines.with(at, (lines[at] ?? '').replace(/: .*/, `: ${wrong}`)).join('\n');
      const { faults } = await read(changed);
      // Any scalar is a value of a parameter, and an empty description or map of parameters says nothing.
      const isFine = /^\s*(?:project|description|parameters)/.test(lines[at] ?? '');
      if (!isFine) expect(faults.length, changed).toBeGreaterThan(0);
      for (const fault of faults) expect(fault).toMatch(/^a\.yaml:\d+: .{10,}/);
      tried++;
    }
  expect(tried).toBeGreaterThan(100);
}, 30_000);

describe('the folder of dashboards', () => {
  test('is the named one; without it that beside the endpoints, which ship together', () => {
    expect(findFolders({ ...folders, dashboardsDir: 'x' }).dashboardsDir).toBe('x');
    expect(findFolders({ ...folders, dashboardsDir: '' }).dashboardsDir).toBeUndefined();
    // This repository has both.
    const own = findFolders({ endpointsDir: '', sourcesDir: '' });
    expect(own.dashboardsDir).toBe('./dashboards');
    expect(keepFolders(own).dashboardsDir).toBe('./dashboards');
    expect(findFolders({ endpointsDir: '', sourcesDir: '', studio: '1' }).dashboardsDir).toBeUndefined();
  });

  test('ships with three, without faults', async () => {
    const { definitions, faults } = await readDefinitions({ endpointsDir: '', sourcesDir: '' });
    const { dashboards = [], endpoints } = definitions;
    expect(dashboards.map(({ name }) => name)).toEqual(['functions', 'gateway', 'service']);
    expect([
      ...faults,
      ...verifyDashboards(dashboards, endpoints),
      ...findMissing(dashboards, endpoints),
    ]).toEqual([]);
  });
});
