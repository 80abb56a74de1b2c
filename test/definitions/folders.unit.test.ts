import { mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import {
  describeFolders,
  findDashboardTarget,
  findFolders,
  keepFolders,
} from '../../src/definitions/folders.ts';
import { temporaryFolder } from '../support/service.ts';

const root = process.cwd();
const folder = await temporaryFolder();
beforeAll(() => process.chdir(folder.path));
afterAll(async () => {
  process.chdir(root);
  await folder.remove();
});

afterEach(async () => {
  for (const name of ['endpoints', 'sources', 'dashboards']) await rm(name, { recursive: true, force: true });
});

const NONE = { endpointsDir: '', sourcesDir: '' };
const shipped = (name: string) => join(root, name);

test('the shipped definitions are read where nobody named a folder and there is none, each kind by itself', async () => {
  const both = findFolders(NONE);
  const [endpointsDir, sourcesDir, dashboardsDir] = ['endpoints', 'sources', 'dashboards'].map(shipped);
  expect(both).toEqual({ endpointsDir, sourcesDir, dashboardsDir, shipped: ['endpointsDir', 'sourcesDir'] });
  expect(describeFolders(both)[0]).toContain(
    'there is no folder ./endpoints here, so the endpoints that ship',
  );
  await mkdir('endpoints');
  expect(findFolders(NONE)).toEqual({ endpointsDir: './endpoints', sourcesDir, shipped: ['sourcesDir'] });
});

test('with TAILRACE_EDIT_ENDPOINTS=copy a copy of the shipped ones is read once it is there, also after a reload', async () => {
  const named = { ...NONE, editEndpoints: 'copy', dataDir: 'data' };
  const before = findFolders(named);
  expect(before).toMatchObject({ endpointsDir: shipped('endpoints'), dashboardsDir: shipped('dashboards') });
  await mkdir('data/definitions/endpoints', { recursive: true });
  const copy = {
    ...{ endpointsDir: 'data/definitions/endpoints', dashboardsDir: 'data/definitions/dashboards' },
    shipped: ['sourcesDir'],
  };
  const after = findFolders(keepFolders(before));
  for (const found of [after, findFolders(keepFolders(after)), findFolders(named)])
    expect(found).toMatchObject(copy);
  expect(findFolders({ ...named, editEndpoints: '1' })).toMatchObject({ endpointsDir: shipped('endpoints') });
  await mkdir('endpoints');
  expect(findFolders(named)).toMatchObject({ endpointsDir: './endpoints', shipped: ['sourcesDir'] });
});

test('with TAILRACE_STUDIO the endpoints for Studio are read, unless a folder is named', () => {
  const first = findFolders({ ...NONE, studio: '1', defaultTier: 'PRO' });
  expect(first).toMatchObject({ endpointsDir: shipped('studio/endpoints'), defaultTier: 'PRO' });
  expect(findFolders(keepFolders(first))).toEqual(first);
  expect(findFolders({ ...NONE, studio: '1', endpointsDir: 'mine' }).endpointsDir).toBe('mine');
});

test('at a reload a folder that was read stays, and a shipped one gives way to one that appeared', async () => {
  await mkdir('endpoints');
  const first = findFolders(NONE);
  await rm('endpoints', { recursive: true });
  await mkdir('sources');
  const second = findFolders(keepFolders(first));
  expect(second).toEqual({ endpointsDir: './endpoints', sourcesDir: './sources', shipped: [] });
});

test('dashboards that appear beside the endpoints here are read at a reload', async () => {
  await mkdir('endpoints');
  const first = findFolders(NONE);
  expect([first.dashboardsDir, findDashboardTarget(first)]).toEqual([undefined, './dashboards']);
  await mkdir('dashboards');
  expect(findFolders(keepFolders(first)).dashboardsDir).toBe('./dashboards');
});

test('dashboards here are not read with the endpoints of another folder, and that is said', async () => {
  const named = { endpointsDir: 'mine', sourcesDir: './sources' };
  const other = findFolders(named);
  expect(other).toEqual({ ...named, shipped: [] });
  expect(describeFolders(other)).toEqual([]);
  await mkdir('dashboards');
  const note = (dir: string) =>
    `the folder ./dashboards is not read, since the endpoints are those of ${dir}; set TAILRACE_DASHBOARDS_DIR to read it`;
  expect(describeFolders(other)).toEqual([note('mine')]);
  expect(findDashboardTarget(other)).toBeUndefined();
});
