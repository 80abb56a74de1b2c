import { mkdir, rmdir } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
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

const NONE = { endpointsDir: '', sourcesDir: '' };
const shipped = (name: string) => join(root, name);

test('the shipped definitions are read where nobody named a folder and there is none, each kind by itself', async () => {
  const both = findFolders(NONE);
  expect(both).toEqual({
    endpointsDir: shipped('endpoints'),
    sourcesDir: shipped('sources'),
    dashboardsDir: shipped('dashboards'),
    shipped: ['endpointsDir', 'sourcesDir'],
  });
  expect(describeFolders(both)).toEqual([
    expect.stringContaining('no folder ./endpoints'),
    expect.anything(),
  ]);
  await mkdir('endpoints');
  const one = findFolders(NONE);
  expect(one).toEqual({
    endpointsDir: './endpoints',
    sourcesDir: shipped('sources'),
    shipped: ['sourcesDir'],
  });
  await rmdir('endpoints');
});

test('with TAILRACE_EDIT_ENDPOINTS=copy a copy of the shipped ones is read once it is there, also after a reload', async () => {
  const named = { ...NONE, editEndpoints: 'copy', dataDir: 'data' };
  const before = findFolders(named);
  expect(before).toMatchObject({
    endpointsDir: shipped('endpoints'),
    shipped: ['endpointsDir', 'sourcesDir'],
  });
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
  await rmdir('endpoints');
});

test('a folder that was named is read, also one that does not exist', () => {
  const named = { endpointsDir: 'mine', sourcesDir: './sources' };
  expect(findFolders(named)).toEqual({ ...named, shipped: [] });
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
  await rmdir('endpoints');
  await mkdir('sources');
  const second = findFolders(keepFolders(first));
  expect(second).toEqual({ endpointsDir: './endpoints', sourcesDir: './sources', shipped: [] });
  await rmdir('sources');
});

test('dashboards that appear beside the endpoints here are read at a reload', async () => {
  await mkdir('endpoints');
  const first = findFolders(NONE);
  expect([first.dashboardsDir, findDashboardTarget(first)]).toEqual([undefined, './dashboards']);
  await mkdir('dashboards');
  expect(findFolders(keepFolders(first)).dashboardsDir).toBe('./dashboards');
  await rmdir('dashboards');
  await rmdir('endpoints');
});

test('dashboards here are not read with the endpoints of another folder, and that is said', async () => {
  const other = findFolders({ endpointsDir: 'mine', sourcesDir: './sources' });
  expect(describeFolders(other)).toEqual([]);
  await mkdir('dashboards');
  const note = (dir: string) =>
    `the folder ./dashboards is not read, since the endpoints are those of ${dir}; set TAILRACE_DASHBOARDS_DIR to read it`;
  expect(describeFolders(other)).toEqual([note('mine')]);
  expect(findDashboardTarget(other)).toBeUndefined();
  await rmdir('dashboards');
});
