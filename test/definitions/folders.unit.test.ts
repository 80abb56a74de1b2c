import { mkdir, rmdir } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { describeShipped, findFolders, keepFolders } from '../../src/definitions/folders.ts';
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
    shipped: ['endpointsDir', 'sourcesDir'],
  });
  expect(describeShipped(both)).toEqual([
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

test('a folder that was named is read, also one that does not exist', () => {
  const named = { endpointsDir: 'mine', sourcesDir: './sources' };
  expect(findFolders(named)).toEqual({ ...named, shipped: [] });
});

test('with TAILRACE_STUDIO the endpoints for Studio are read, unless a folder is named, also after a reload', async () => {
  await mkdir('endpoints');
  const first = findFolders({ ...NONE, studio: '1', defaultTier: 'PRO' });
  expect(first).toMatchObject({ endpointsDir: shipped('studio/endpoints'), defaultTier: 'PRO' });
  expect(findFolders(keepFolders(first))).toEqual(first);
  expect(describeShipped(first)[0]).toBe(
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
