import { cp, mkdir, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import type { AlertView } from '../../src/management/alert-view.ts';
import { expectError, get, request } from '../support/http.ts';
import { PRIVATE_KEY, startTestService, temporaryFolder } from '../support/service.ts';

const folder = await temporaryFolder();
const alertsDir = join(folder.path, 'alerts');
const endpointsDir = join(folder.path, 'endpoints');
const receiversFile = join(folder.path, 'receivers');
await mkdir(alertsDir);
await cp('template/endpoints', endpointsDir, { recursive: true });
await writeFile(receiversFile, 'ops: { kind: slack, url: "https://hooks.slack.com/services/x" }\n', {
  mode: 0o600,
});
const service = await startTestService({
  env: {
    ...{ TAILRACE_ENDPOINTS_DIR: endpointsDir, TAILRACE_ALERTS_DIR: alertsDir },
    ...{ TAILRACE_RECEIVERS_FILE: receiversFile, TAILRACE_EDIT_ENDPOINTS: '1' },
  },
});
afterAll(async () => {
  await service.close();
  await folder.remove();
});

const GOOD = `name: made.here
description: Paths fail.
endpoint: failing.paths
parameters: { project: aurora }
every: 60
when: { column: failures, above: 3 }
per: [path]
text: "{{ path }} failed"
to: [ops]
`;

async function post(path: string, body: object, key = PRIVATE_KEY) {
  const answer = await request(service.url, `/api/workbench/alerts/${path}`, {
    method: 'POST',
    headers: { 'x-api-key': key, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  return { ...answer, json: answer.body as unknown as Record<string, unknown> };
}

const save = (definition: string, version: string | null = null, name = 'made.here') =>
  post('save', { name, definition, version });
const fileOf = (name: string) => join(alertsDir, `${name}.yaml`);
const served = async () =>
  ((await get(service.url, '/api/alerts')).body as unknown as { result: AlertView[] }).result.map(
    ({ name }) => name,
  );
const faultsOf = async (definition: string) =>
  (await post('check', { definition })).json['errors'] as { message: string; line?: number }[];

describe('the text of an alert', () => {
  test('without faults has none, even without an id', async () => {
    expect(await faultsOf(GOOD)).toEqual([]);
  });

  test.each([
    ['endpoint: failing.paths', 'endpoint: nothing', 3, 'no endpoint is called "nothing"'],
    ['column: failures', 'column: fails', 6, 'has no column "fails"'],
    ['per: [path]', 'per: [road]', 7, 'has no column "road"'],
    ['{{ path }}', '{{ road }}', 8, 'road'],
    ['[ops]', '[opps]', 9, 'has no receiver "opps"; it has ops'],
    ['every: 60', 'every: soon', 5, 'every'],
    ['parameters: {', 'parameters: {{', 5, ''],
  ])('with %s written as %s has a fault there', async (right, wrong, line, message) => {
    const [fault] = await faultsOf(GOOD.replace(right, wrong));
    expect(fault).toMatchObject({ line, message: expect.stringContaining(message) });
  });

  test('is read within bounds', async () => {
    expect((await faultsOf(`${GOOD}#${'x'.repeat(70_000)}`))[0]?.message).toContain('accepts at most 65536');
  });
});

describe('an alert that is saved', () => {
  test('is a file with an id, and served; it can be changed by those who have read it', async () => {
    const made = await save(GOOD);
    expect([made.status, made.json]).toEqual([200, { name: 'made.here', version: expect.any(String) }]);
    const written = await readFile(fileOf('made.here'), 'utf8');
    expect(written).toMatch(/^id: [0-9a-f-]{36}\nname: made\.here\n/);
    expect(await served()).toEqual(['made.here']);
    const read = (await get(service.url, '/api/workbench/alerts/made.here')).body;
    expect(read).toEqual({
      name: 'made.here',
      definition: written,
      version: made.json['version'],
      may_edit: true,
    });
    const changed = await save(written.replace('above: 3', 'above: 4'), String(made.json['version']));
    expect(changed.status).toBe(200);
    expect(await readFile(fileOf('made.here'), 'utf8')).toContain('above: 4');
    expect(await readdir(alertsDir)).toEqual(['made.here.yaml']);
    expect((await service.service.keyring.log({ limit: 1 }))[0]).toMatchObject({
      ...{ action: 'saved', actor: 'private', detail: `alert made.here ${changed.json['version']}` },
    });
  });

  test('is refused with 409 if the file has changed, or there is one already', async () => {
    const before = await readFile(fileOf('made.here'), 'utf8');
    for (const version of [null, 'another']) {
      const answer = await save(GOOD.replace('above: 3', 'above: 9'), version);
      expectError(answer, 'conflict');
    }
    expectError(await save(GOOD.replace('made.here', 'gone'), 'read before', 'gone'), 'conflict');
    expect(await readFile(fileOf('made.here'), 'utf8')).toBe(before);
  });

  test('keeps its name and its id', async () => {
    const { definition, version } = (await get(service.url, '/api/workbench/alerts/made.here'))
      .body as unknown as { definition: string; version: string };
    const other = definition.replace(/^id: .*/, 'id: 00000000-0000-4000-8000-000000000001');
    expectError(await save(other, version), 'invalid_definition');
    const renamed = await save(GOOD, null, 'other.name');
    expectError(renamed, 'invalid_definition');
    expect(renamed.body.error?.message).toBe(
      'alert.yaml:1: "name" must be other.name, under which it is saved',
    );
  });

  test('is not written if another definition has faults, and the files stay as they were', async () => {
    const broken = fileOf('broken');
    await writeFile(broken, 'name: 1\n');
    const answer = await save(GOOD.replace('made.here', 'fresh'), null, 'fresh');
    await rm(broken);
    expectError(answer, 'invalid_definition');
    expect(answer.body.error?.message).toContain('broken.yaml:1');
    expect(answer.text).not.toContain(folder.path);
    expect(await readdir(alertsDir)).toEqual(['made.here.yaml']);
  });

  test('is never written through a link', async () => {
    await symlink(join(folder.path, 'elsewhere'), fileOf('linked'));
    const answer = await save(GOOD.replace('made.here', 'linked'), null, 'linked');
    await rm(fileOf('linked'));
    expectError(answer, 'forbidden');
    expect(await readdir(folder.path)).not.toContain('elsewhere');
  });
});

test('limited keys may not read or write the files of alerts', async () => {
  const { key } = await service.service.keyring.create({
    ...{ name: 'a', description: '', scopes: ['query', 'manage'], pins: { project: 'aurora' } },
    ...{ endpoints: undefined, sources: undefined, rate: undefined, expiresMs: undefined },
  });
  expectError(await get(service.url, '/api/workbench/alerts/made.here', { 'x-api-key': key }), 'forbidden');
  expectError(await post('save', { name: 'x', definition: GOOD, version: null }, key), 'forbidden');
  expectError(await post('check', { definition: GOOD }, key), 'forbidden');
});

test('says what the workbench may write, and which receivers there are', async () => {
  const { body } = await get(service.url, '/api/workbench');
  expect(body).toMatchObject({ alerts: { refusal: null, receivers: ['ops'] } });
});
