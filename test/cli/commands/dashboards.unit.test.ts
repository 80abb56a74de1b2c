import { cp, mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { GrafanaDashboard } from '../../../src/cli/commands/dashboards.ts';
import { runProgram } from '../../support/program.ts';
import { temporaryFolder } from '../../support/service.ts';

const folder = await temporaryFolder();
afterAll(folder.remove);
const dashboards = join(folder.path, 'dashboards');
const env = {
  TAILRACE_ENDPOINTS_DIR: 'endpoints',
  TAILRACE_DASHBOARDS_DIR: dashboards,
  TAILRACE_PRIVATE_KEY: 'private-key-0123456789',
};
const fileOf = (name: string, panels: string) =>
  writeFile(
    join(dashboards, `${name}.yaml`),
    `id: a0000000-0000-4000-8000-00000000000${name.length}\nname: ${name}\ntitle: ${name}\nrows:\n  - panels: [${panels}]\n`,
  );

beforeAll(async () => {
  await mkdir(dashboards);
  await cp('dashboards', dashboards, { recursive: true });
});

test.each(['service', 'gateway'])(
  'the shipped dashboard %s is exported whole, without a key',
  async (name) => {
    const { code, stdout, stderr } = await runProgram(['dashboards', 'export', name], env);
    expect([code, stderr]).toEqual([0, '']);
    const { title, panels, templating } = JSON.parse(stdout) as GrafanaDashboard;
    expect(title.toLowerCase()).toBe(name);
    expect(panels.length).toBeGreaterThanOrEqual(5);
    for (const panel of panels)
      expect(panel).toMatchObject({ title: /./, targets: [{ parser: 'jq-backend' }] });
    expect(templating.list).toContainEqual(expect.objectContaining({ name: 'project', type: 'textbox' }));
    expect(stdout).not.toContain(env.TAILRACE_PRIVATE_KEY);
  },
);

test('a panel without its endpoint is a warning; a fault of a file is an error', async () => {
  await fileOf('gone', '{ endpoint: was.removed, title: Gone }, { endpoint: usage.ingest }');
  const { code, stdout, stderr } = await runProgram(['dashboards', 'export', 'gone'], env);
  expect([code, stderr]).toEqual([
    0,
    expect.stringMatching(/^warning: .*gone.yaml:5: no endpoint is called "was.removed"/),
  ]);
  expect(JSON.parse(stdout)).toMatchObject({ panels: [{ type: 'text' }, { type: 'timeseries' }] });
  await fileOf('wrong', '{ endpoint: usage.ingest, parameters: { dys: 3 } }');
  const wrong = await runProgram(['dashboards', 'export', 'service'], env);
  expect([wrong.code, wrong.stdout]).toEqual([1, '']);
  expect(wrong.stderr).toContain('usage.ingest has no parameter "dys"');
});
