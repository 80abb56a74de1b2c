import { cp, mkdir, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { expectError, get } from '../support/http.ts';
import { post as send } from '../support/ingest.ts';
import { PRIVATE_KEY, startTestService, temporaryFolder } from '../support/service.ts';

// Files of alerts and dashboards are saved in the same way.
const folder = await temporaryFolder();
const dirOf = (kind: string) => join(folder.path, kind);
for (const kind of ['alerts', 'dashboards']) await mkdir(dirOf(kind));
await cp('template/endpoints', dirOf('endpoints'), { recursive: true });
const receivers = 'ops: { kind: slack, url: "https://hooks.slack.com/services/x" }\n';
await writeFile(dirOf('receivers'), receivers, { mode: 0o600 });
const service = await startTestService({
  env: {
    TAILRACE_ENDPOINTS_DIR: dirOf('endpoints'),
    TAILRACE_ALERTS_DIR: dirOf('alerts'),
    TAILRACE_DASHBOARDS_DIR: dirOf('dashboards'),
    TAILRACE_RECEIVERS_FILE: dirOf('receivers'),
    TAILRACE_EDIT_ENDPOINTS: '1',
  },
});
afterAll(async () => {
  await service.close();
  await folder.remove();
});

const ALERT = `name: made.here
description: Paths fail.
endpoint: failing.paths
parameters: { project: aurora }
every: 60
when: { column: failures, above: 3 }
per: [path]
text: "{{ path }} failed"
to: [ops]
`;
const DASHBOARD = `name: made.here
title: Made here
description: Paths fail.
rows:
  - panels: [{ endpoint: failing.paths }]
`;

async function post(path: string, body: object, key = PRIVATE_KEY) {
  const answer = await send(service.url, `/api/workbench/${path}`, body, { 'x-api-key': key });
  return { ...answer, json: answer.body as unknown as Record<string, unknown> };
}

describe.each([
  ['alerts', 'alert', ALERT],
  ['dashboards', 'dashboard', DASHBOARD],
])('the file of %s', (kind, one, good) => {
  const save = (definition: string, version: string | null = null, name = 'made.here', key?: string) =>
    post(`${kind}/save`, { name, definition, version }, key);
  const fileOf = (name: string) => join(dirOf(kind), `${name}.yaml`);
  const read = async () => (await get(service.url, `/api/workbench/${kind}/made.here`)).body as unknown;

  test('is written with an id, served, and changed by those who have read it', async () => {
    const made = await save(good);
    expect([made.status, made.json]).toEqual([200, { name: 'made.here', version: expect.any(String) }]);
    const { version } = made.json;
    const definition = await readFile(fileOf('made.here'), 'utf8');
    expect(definition).toMatch(/^id: [0-9a-f-]{36}\nname: made\.here\n/);
    expect((await get(service.url, `/api/${kind}`)).body.result).toMatchObject([{ name: 'made.here' }]);
    expect(await read()).toEqual({ name: 'made.here', definition, version, may_edit: true });
    const first = await save(definition.replace('Paths fail', 'First'), String(version));
    expect(first.status).toBe(200);
    expectError(await save(definition.replace('Paths fail', 'Second'), String(version)), 'conflict');
    expectError(await save(good), 'conflict');
    expect(await readFile(fileOf('made.here'), 'utf8')).toContain('description: First');
    expect(await readdir(dirOf(kind))).toEqual(['made.here.yaml']);
    expect((await service.service.keyring.log({ limit: 1 }))[0]).toMatchObject({
      ...{ action: 'saved', actor: 'private', detail: `${one} made.here ${first.json['version']}` },
    });
  });

  test('is not written with faults, beside another file with faults, or through a link', async () => {
    const fresh = good.replace('made.here', 'fresh');
    const faulty = await save(fresh.replace('failing.paths', 'gone'), null, 'fresh');
    expectError(faulty, 'invalid_definition');
    await writeFile(fileOf('broken'), 'name: 1\n');
    const answer = await save(fresh, null, 'fresh');
    await rm(fileOf('broken'));
    expectError(answer, 'invalid_definition');
    expect(answer.body.error?.message).toContain('broken.yaml:1');
    expect(answer.text).not.toContain(folder.path);
    await symlink(dirOf('elsewhere'), fileOf('fresh'));
    expectError(await save(fresh, null, 'fresh'), 'forbidden');
    await rm(fileOf('fresh'));
    expect(await readdir(folder.path)).not.toContain('elsewhere');
    expect(await readdir(dirOf(kind))).toEqual(['made.here.yaml']);
  });

  test('is neither read nor written by a limited key', async () => {
    const grant = { name: 'a', scopes: ['query', 'manage'], pins: { project: 'aurora' } } as const;
    const { key } = await service.service.keyring.create(grant);
    const headers = { 'x-api-key': key };
    expectError(await get(service.url, `/api/workbench/${kind}/made.here`, headers), 'forbidden');
    expectError(await save(good.replace('made.here', 'x'), null, 'x', key), 'forbidden');
    expectError(await post(`${kind}/check`, { definition: good }, key), 'forbidden');
  });
});
