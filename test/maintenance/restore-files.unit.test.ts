import { hash } from 'node:crypto';
import { lstat, mkdir, readdir, readFile, symlink, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import fc from 'fast-check';
import { afterAll, beforeEach, describe, expect, test } from 'vitest';
import { restoreDefinitions } from '../../src/maintenance/backup/definitions.ts';
import { copyPart } from '../../src/maintenance/backup/files.ts';
import { BACKUP_FORMAT, type ManifestFile, writeManifest } from '../../src/maintenance/backup/manifest.ts';
import { readBackup, restoreBackup } from '../../src/maintenance/backup/restore.ts';
import { hostileName } from '../support/hostile-name.ts';
import { runs } from '../support/property.ts';
import { temporaryFolder } from '../support/service.ts';

const root = await temporaryFolder();
afterAll(root.remove);
const COPYING = { signal: new AbortController().signal, onBytes() {} };
let count = 0;
let own = '';
let backup = '';
beforeEach(async () => {
  own = join(root.path, String(++count));
  backup = join(own, 'backup');
  await mkdir(backup, { recursive: true });
});

async function put(path: string, text: string): Promise<void> {
  await mkdir(dirname(path), { recursive: true });
  await writeFile(path, text);
}

const describeText = (path: string, text: string): ManifestFile => ({
  path,
  bytes: Buffer.byteLength(text),
  sha256: hash('sha256', text),
});

const SHIPPED = 'definitions/sources/a.yaml';

/** Writes a backup without events whose manifest lists these files, with a checksum that is right. */
async function writeBackup(files: readonly ManifestFile[]): Promise<void> {
  await put(join(backup, SHIPPED), 'a');
  const base = { format: BACKUP_FORMAT, tailrace: '0.1.0', created_at: '2026-11-20T12:00:00Z' };
  const listed = [describeText(SHIPPED, 'a'), ...files];
  const versions = { store_version: null, control_version: null };
  writeManifest(backup, { ...base, ...versions, tables: [], files: listed });
}

async function restore(): Promise<void> {
  const dataDir = join(own, 'data');
  await mkdir(dataDir, { recursive: true });
  const manifest = readBackup(backup);
  const openEngine = () => Promise.reject(new Error('there are no events'));
  await restoreBackup(backup, manifest, { dataDir, openEngine, onProgress() {}, ...COPYING });
  const dirs = {
    endpoints: join(own, 'restored/endpoints'),
    sources: join(own, 'restored/sources'),
    shipped: {},
  };
  await restoreDefinitions(backup, manifest, dirs);
}

const listOf = async (dir: string) =>
  (await readdir(dir, { recursive: true, withFileTypes: true }).catch(() => []))
    .filter((entry) => !entry.isDirectory())
    .map((entry) => join(entry.parentPath, entry.name).slice(dir.length + 1))
    .toSorted();

describe('a restore', () => {
  test('writes the files that the manifest lists, and no other', async () => {
    await put(join(backup, 'token.secret'), 'secret');
    await put(join(backup, 'definitions/endpoints/x/query.sql'), 'SELECT 1');
    await writeBackup([
      describeText('token.secret', 'secret'),
      describeText('definitions/endpoints/x/query.sql', 'SELECT 1'),
    ]);
    await put(join(backup, 'definitions/endpoints/x/endpoint.yaml'), 'name: added');
    await put(join(backup, 'control.sqlite'), 'added');
    await put(join(own, 'outside'), 'kept');
    await symlink(join(own, 'outside'), join(backup, 'definitions/sources/b.yaml'));
    await restore();
    expect(await listOf(join(own, 'data'))).toEqual(['tables.json', 'token.secret']);
    expect(await listOf(join(own, 'restored'))).toEqual(['endpoints/x/query.sql', 'sources/a.yaml']);
    expect((await lstat(join(own, 'restored/sources/a.yaml'))).isFile()).toBe(true);
  });

  test.each([
    '../outside',
    'a/../../outside',
    'a\n/../../outside',
    '/tmp/outside',
    'store/x',
    'lock.sqlite',
    'definitions/sources/../../../outside',
  ])('of a manifest that lists %j is refused, and writes nothing', async (path) => {
    await put(join(own, 'outside'), 'x');
    await put(join(backup, 'store/x'), 'x');
    await writeBackup([describeText(path, 'x')]);
    const before = await listOf(own);
    await expect(restore()).rejects.toThrow(/is not a manifest|is not one of Tailrace's|is incomplete/);
    expect(await listOf(own)).toEqual(before);
    expect(await readFile(join(own, 'outside'), 'utf8')).toBe('x');
  });

  test.each(['token.secret', 'definitions/endpoints/x/query.sql'])(
    'of a backup in which %s is a link to a file elsewhere is refused',
    async (path) => {
      await put(join(own, 'outside/query.sql'), 'x');
      await put(join(own, 'outside.txt'), 'x');
      await writeBackup([describeText(path, 'x')]);
      await mkdir(dirname(dirname(join(backup, path))), { recursive: true });
      if (path.endsWith('.sql')) await symlink(join(own, 'outside'), dirname(join(backup, path)));
      else await symlink(join(own, 'outside.txt'), join(backup, path));
      await expect(restore()).rejects.toThrow("is not one of Tailrace's");
      expect(await listOf(join(own, 'data'))).toEqual([]);
      expect(await listOf(join(own, 'restored'))).toEqual([]);
    },
  );

  test('of hostile paths writes nothing outside of its folders', async () => {
    await put(join(own, 'outside'), 'x');
    const outside = async () => (await listOf(own)).filter((path) => !/^(backup|data|restored)\//.test(path));
    await fc.assert(
      fc.asyncProperty(hostileName, fc.constantFrom('', 'definitions/sources/'), async (name, start) => {
        await writeBackup([describeText(start + name, 'a')]);
        await restore().catch(() => {});
        expect(await outside()).toEqual(['outside']);
      }),
      runs(300),
    );
  });
});

test('a part with a link to a file elsewhere is not copied', async () => {
  await put(join(own, 'outside'), 'x');
  await put(join(own, 'part/checksums.txt'), 'x');
  await symlink(join(own, 'outside'), join(own, 'part/data.bin'));
  await expect(copyPart(join(own, 'part'), join(own, 'to'), COPYING)).rejects.toThrow(
    'no link that leads out',
  );
});
