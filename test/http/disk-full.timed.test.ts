import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdtemp, rm, rmdir, statfs, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { pino } from 'pino';
import { afterAll, expect, onTestFinished, type TestContext, test } from 'vitest';
import { createService } from '../../src/service/service.ts';
import { EDGE, expectError, get, idsOf, post, QUERY_PATH, readMetric, TO_EDGE } from '../support/http.ts';
import { testConfig } from '../support/service.ts';

const exec = promisify(execFile);
const path = await mkdtemp(join(tmpdir(), 'tailrace-disk-'));
const mounted = await exec('mount', ['-t', 'tmpfs', '-o', 'size=64m', 'tmpfs', path]).then(
  () => true,
  () => false,
);
afterAll(async () => {
  if (mounted) await exec('umount', [path]);
  await rmdir(path);
});

/** Fills the disk to the last block; what is returned makes room again. */
async function fillDisk(): Promise<() => Promise<void>> {
  const file = join(path, 'filler');
  const { bavail, bsize } = await statfs(path);
  // One block more than there are: the service may write meanwhile.
  const written = writeFile(file, Buffer.alloc((bavail + 1) * bsize));
  await expect(written).rejects.toMatchObject({ code: 'ENOSPC' });
  return () => rm(file);
}

/** A service on the small disk. */
async function start(context: TestContext) {
  if (!mounted) context.skip('a small file system cannot be mounted here: that takes root');
  const logger = pino({ level: 'silent' });
  const service = await createService(testConfig(path), { logger, owner: 'a test' });
  const url = await service.app.listen({ host: '127.0.0.1', port: 0 });
  onTestFinished(service.close);
  return { service, url };
}

test('a full disk is 503, with nothing half stored, until there is room again', async (context) => {
  const { service, url } = await start(context);
  const ids = () => idsOf(service.core, 'p');
  const bulk = (prefix: string) =>
    Array.from({ length: 2_000 }, (_, i) => ({
      id: `${prefix}${i}`,
      project: 'p',
      message: randomBytes(100).toString('base64'),
    }));
  expect((await post(url, TO_EDGE, [{ id: '1', project: 'p' }])).status).toBe(200);

  const makeRoom = await fillDisk();
  const days = [0, 1].map((daysAgo) => ({
    id: `d${daysAgo}`,
    project: 'p',
    timestamp: Date.now() - daysAgo * 86_400_000,
  }));
  const kept = bulk('k');
  const keyed = { 'idempotency-key': 'k' };
  const answers = [
    await post(url, TO_EDGE, [{ id: '2', project: 'p' }]),
    await post(url, TO_EDGE, bulk('b')),
    await post(url, TO_EDGE, days),
    await post(url, TO_EDGE, kept, keyed),
    await post(url, TO_EDGE, kept, keyed),
  ];
  for (const answer of answers) {
    expectError(answer, 'overloaded');
    expect(answer.body.error.message).toBe('the disk is full; nothing was stored');
  }
  expect(await ids()).toEqual(['1']);
  expect(await readMetric(url, 'tailrace_commits_total', { source: EDGE, result: 'failed' })).toBeGreaterThan(
    4,
  );
  const read = await get(url, `${QUERY_PATH}/logs.all?project=p`);
  expect(read.body.result.map((row) => row['id'])).toEqual(['1']);

  const storing = expect.stringMatching(/^the disk of the data directory is full \(0 bytes/);
  expect((await get(url, '/ready')).body).toEqual({ status: 'ready', storing });

  await makeRoom();
  expect((await post(url, TO_EDGE, [{ id: '3', project: 'p' }])).status).toBe(200);
  expect((await get(url, '/ready')).body).toEqual({ status: 'ready' });
  expect((await post(url, TO_EDGE, days)).status).toBe(200);
  expect((await post(url, TO_EDGE, kept, keyed)).status).toBe(200);
  expect((await post(url, TO_EDGE, kept, keyed)).status).toBe(200);
  const stored = await ids();
  expect(stored.filter((id) => !id.startsWith('k'))).toEqual(['1', '3', 'd0', 'd1']);
  expect(stored).toHaveLength(2_004);
});

test('on a full disk a key is revoked and events are deleted, and what that frees is not for events before', async (context) => {
  const { service, url } = await start(context);
  const send = async (project: string) => (await post(url, TO_EDGE, [{ id: project, project }])).status;
  const { id } = await service.keyring.create({ name: 'leaked', scopes: ['query'] });
  expect([await send('kept'), await send('deleted')]).toEqual([200, 200]);
  const makeRoom = await fillDisk();
  expect(await service.keyring.revoke(id)).toBe(true);
  expect(await send('kept')).toBe(503);
  const deletion = await post(url, '/api/deletions', { project: 'deleted' });
  expect(deletion.body).toMatchObject({ state: 'done', rows: 1, error: null });
  expect([await idsOf(service.core, 'kept'), await idsOf(service.core, 'deleted')]).toEqual([['kept'], []]);
  expect(await send('later')).toBe(503);
  await makeRoom();
  await expect.poll(() => send('later')).toBe(200);
});
