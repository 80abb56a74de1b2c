import { mkdir, rmdir } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import {
  describeFolders,
  findDashboardTarget,
  findFolders,
  keepFolders,
} from '../../src/definitions/folders.ts';
import { findDashboardRefusal } from '../../src/workbench/dashboard/refusal.ts';
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
    `there is no folder ./endpoints here, so the endpoints that ship with Tailrace are used: ${shipped('endpoints')}`,
    `there is no folder ./sources here, so the sources that ship with Tailrace are used: ${shipped('sources')}`,
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
  expect(after).toMatchObject(copy);
  expect(findFolders(keepFolders(after))).toMatchObject(copy);
  expect(findFolders(named)).toMatchObject(copy);
  expect(findFolders({ ...named, editEndpoints: '1' })).toMatchObject({ endpointsDir: shipped('endpoints') });
  await mkdir('dashboards');
  expect(findFolders(named)).toMatchObject({ ...copy, dashboardsDir: './dashboards' });
  await rmdir('dashboards');
  await mkdir('endpoints');
  expect(findFolders(named)).toMatchObject({ endpointsDir: './endpoints', shipped: ['sourcesDir'] });
  await rmdir('endpoints');
});

test('with TAILRACE_EDIT_ENDPOINTS=copy the folders of a checkout are the shipped ones', () => {
  process.chdir(root);
  try {
    const found = findFolders({ ...NONE, editEndpoints: 'copy', dataDir: join(folder.path, 'other') });
    expect(found).toMatchObject({
      endpointsDir: 'endpoints',
      dashboardsDir: 'dashboards',
      shipped: ['endpointsDir'],
    });
    expect(describeFolders(found)).toEqual([]);
    expect(findFolders({ ...NONE, editEndpoints: '1' })).toMatchObject({
      endpointsDir: './endpoints',
      shipped: [],
    });
  } finally {
    process.chdir(folder.path);
  }
});

test('a folder that was named is read, also one that does not exist', () => {
  const named = { endpointsDir: 'mine', sourcesDir: './sources' };
  expect(findFolders(named)).toEqual({ ...named, shipped: [] });
});

test('with TAILRACE_STUDIO the endpoints for Studio are read, unless a folder is named, also after a reload', async () => {
  await mkdir('endpoints');
  const first = findFolders({ ...NONE, studio: '1', defaultTier: 'PRO' });
  expect(first).toMatchObject({ endpointsDir: shipped('studio/endpoints'), defaultTier: 'PRO' });
  expect(findFolders(keepFolders(first))).toEqual(first);
  expect(describeFolders(first)[0]).toBe(
    `TAILRACE_STUDIO is 1, so the endpoints for Supabase Studio are used: ${shipped('studio/endpoints')}`,
  );
  expect(findFolders({ ...NONE, studio: '1', endpointsDir: 'mine' }).endpointsDir).toBe('mine');
  await rmdir('endpoints');
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
  expect(first.dashboardsDir).toBeUndefined();
  expect(findDashboardTarget(first)).toBe('./dashboards');
  await mkdir('dashboards');
  const second = findFolders(keepFolders(first));
  expect(second).toMatchObject({ endpointsDir: './endpoints', dashboardsDir: './dashboards' });
  expect(findFolders(keepFolders(second))).toEqual(second);
  expect(findFolders({ ...NONE, endpointsDir: join(folder.path, 'endpoints') })).toMatchObject({
    dashboardsDir: './dashboards',
  });
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
  expect(findDashboardRefusal({ config: { editEndpoints: '1' }, folders: () => other })).toContain(
    'set TAILRACE_DASHBOARDS_DIR',
  );
  expect(describeFolders({ ...other, dashboardsDir: 'those' })).toEqual([]);
  const studio = findFolders({ ...NONE, studio: '1' });
  expect(describeFolders(studio)).toContain(note(shipped('studio/endpoints')));
  await rmdir('dashboards');
});
