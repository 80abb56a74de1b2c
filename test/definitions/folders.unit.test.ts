import { mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { describeFolders, findFolders, findSearchesDir, keepFolders } from '../../src/definitions/folders.ts';
import { ownFolder } from '../support/service.ts';

const root = process.cwd();
const folder = await ownFolder();
beforeAll(() => process.chdir(folder.path));
afterAll(() => process.chdir(root));

afterEach(async () => {
  for (const name of ['endpoints', 'sources', 'dashboards', 'searches', 'data'])
    await rm(name, { recursive: true, force: true });
});

const NONE = { endpointsDir: '', sourcesDir: '' };
const shipped = (name: string) => join(root, name);

test('the shipped definitions are read where nobody named a folder and there is none, each kind by itself', async () => {
  const both = findFolders(NONE);
  const [endpointsDir, sourcesDir, dashboardsDir] = ['endpoints', 'sources', 'dashboards'].map(shipped);
  expect(both).toEqual({ endpointsDir, sourcesDir, dashboardsDir, shipped: ['endpointsDir', 'sourcesDir'] });
  const why = 'there is no folder ./endpoints here, so the endpoints that ship';
  expect(describeFolders(both)[0]).toContain(why);
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

test('searches of the working folder stay in use after the shipped endpoints are copied', async () => {
  const named = { ...NONE, editEndpoints: 'copy', dataDir: 'data' };
  await mkdir('searches');
  expect(findSearchesDir(findFolders(named))).toBe('searches');
  await mkdir('data/definitions/endpoints', { recursive: true });
  expect(findSearchesDir(findFolders(named))).toBe('searches');
  await rm('searches', { recursive: true });
  expect(findSearchesDir(findFolders(named))).toBe('data/definitions/searches');
  await mkdir('endpoints');
  expect(findSearchesDir(findFolders(named))).toBe('searches');
});
