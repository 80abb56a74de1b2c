import { cp, mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { DashboardView } from '../../src/management/dashboard-view.ts';
import { expectError, get, read } from '../support/http.ts';
import { ownFolder, ownService } from '../support/service.ts';

const folder = await ownFolder();
const endpointsDir = join(folder.path, 'endpoints');
const dashboardsDir = join(folder.path, 'dashboards');
await cp('template/endpoints', endpointsDir, { recursive: true });
await mkdir(dashboardsDir);
const FAILING = `id: a0000000-0000-4000-8000-000000000001
name: failing
title: Failing
range: 1h
parameters: { project: aurora }
rows:
  - height: 100
    panels:
      - { endpoint: failing.paths }
      - { show: text, text: Call ops. }
      - { endpoint: slow.functions, parameters: { project: borealis }, show: table }
  - panels: [{ endpoint: was.removed, title: Gone }]
`;
await writeFile(join(dashboardsDir, 'failing.yaml'), FAILING);
const service = await ownService({
  env: { TAILRACE_ENDPOINTS_DIR: endpointsDir, TAILRACE_DASHBOARDS_DIR: dashboardsDir },
});

const { url } = service;
const ONE = '/api/dashboards/failing';
const list = async (key?: string) => (await read(url, '/api/dashboards', key)).result;
const panelsOf = async (key?: string) =>
  (await read<DashboardView>(url, ONE, key)).rows.map(({ panels }) => panels.map(({ endpoint }) => endpoint));

test('a dashboard is listed and read, by name and by UUID; a panel without its endpoint is marked', async () => {
  const named = { id: 'a0000000-0000-4000-8000-000000000001', name: 'failing', title: 'Failing' };
  expect(await list()).toEqual([{ ...named, description: '', panels: 4 }]);
  const body = await read(url, ONE);
  const none = { parameters: {}, show: null, title: null, columns: [], unit: null, text: null };
  expect(body).toEqual({
    ...{ ...named, description: '', range_seconds: 3600 },
    parameters: [{ name: 'project', default: 'aurora', pinned: null }],
    rows: [
      {
        height_px: 100,
        panels: [
          { ...none, endpoint: 'failing.paths', missing: false },
          { ...none, endpoint: null, missing: false, show: 'text', text: 'Call ops.' },
          {
            ...none,
            ...{ endpoint: 'slow.functions', missing: false, show: 'table' },
            parameters: { project: 'borealis' },
          },
        ],
      },
      { height_px: 220, panels: [{ ...none, endpoint: 'was.removed', missing: true, title: 'Gone' }] },
    ],
  });
  expect(await read(url, '/api/dashboards/A0000000-0000-4000-8000-000000000001')).toEqual(body);
  expectError(await get(url, '/api/dashboards/other'), 'not_found');
});

test('a dashboard has for a key the panels of the endpoints that it may call', async () => {
  const key = await service.newKey({ endpoints: ['failing.paths'] });
  expect(await panelsOf(key)).toEqual([['failing.paths', null]]);
  expect(await list(key)).toMatchObject([{ panels: 2 }]);
});

test('a dashboard has for a key with a pin that value, and no panel with another one', async () => {
  const key = await service.newKey({ pins: { project: 'polaris' } });
  expect(await panelsOf(key)).toEqual([['failing.paths', null], ['was.removed']]);
  expect(await read(url, ONE, key)).toMatchObject({ parameters: [{ name: 'project', pinned: 'polaris' }] });
  const same = await service.newKey({ pins: { project: 'borealis' } });
  expect(await panelsOf(same)).toEqual([['failing.paths', null, 'slow.functions'], ['was.removed']]);
});

test('a dashboard is not there for a key that sees no panel: a text alone says nothing', async () => {
  const key = await service.newKey({ endpoints: ['recent.events'] });
  expect(await list(key)).toEqual([]);
  expectError(await get(url, ONE, { 'x-api-key': key }), 'not_found');
  const sender = { 'x-api-key': await service.newKey({ scopes: ['ingest'] }) };
  expectError(await get(url, '/api/dashboards', sender), 'forbidden');
});
