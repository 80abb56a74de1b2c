import { mkdir, readdir, readFile, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { validate } from 'dockerfile-utils';
import { afterAll, describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { readVersion } from '../../../src/version.ts';
import { runCli } from '../../support/cli.ts';
import { runProgram } from '../../support/program.ts';
import { temporaryFolder } from '../../support/service.ts';

const folder = await temporaryFolder();
afterAll(folder.remove);

const init = (dir: string) => runProgram(['init', dir], {});
const listOf = async (dir: string) =>
  (await readdir(dir, { recursive: true, withFileTypes: true }))
    .filter((one) => one.isFile())
    .map((one) => join(one.parentPath, one.name).slice(dir.length + 1))
    .toSorted();
const read = (...path: string[]) => readFile(join(...path), 'utf8');

describe('tailrace init', () => {
  const project = join(folder.path, 'new/my-logs');

  test('creates a project in a folder that does not exist, and prints the commands that come next', async () => {
    const { code, stdout, stderr } = await init(project);
    expect([code, stderr]).toEqual([0, '']);
    expect(await listOf(project)).toEqual([
      '.env.example',
      '.github/workflows/tailrace.yaml',
      '.gitignore',
      'README.md',
      'alerts/failing.paths.yaml',
      'alerts/no.events.yaml',
      'alerts/slow.functions.yaml',
      'compose.yaml',
      'dashboards/gateway.yaml',
      'endpoints/failing.paths/endpoint.yaml',
      'endpoints/failing.paths/query.sql',
      'endpoints/failing.paths/tests/alert.yaml',
      'endpoints/failing.paths/tests/failures.ndjson',
      'endpoints/failing.paths/tests/last-hour.yaml',
      'endpoints/recent.events/endpoint.yaml',
      'endpoints/recent.events/query.sql',
      'endpoints/recent.events/tests/last-minutes.yaml',
      'endpoints/slow.functions/endpoint.yaml',
      'endpoints/slow.functions/query.sql',
      'endpoints/slow.functions/tests/calls.ndjson',
      'endpoints/slow.functions/tests/last-hour.yaml',
      'package.json',
      'sources/cloudflare.logs.prod.yaml',
      'sources/deno-relay-logs.yaml',
    ]);
    expect(stdout).toMatch(
      /\n {2}cd .*my-logs\n {2}npm install\n {2}npx tailrace dev\n {2}npx tailrace test\n/,
    );
    const { dependencies } = JSON.parse(await read(project, 'package.json')) as { dependencies: object };
    expect(dependencies).toEqual({ tailrace: `^${readVersion()}` });
    expect(await read(project, '.gitignore')).toMatch(/^data\/$/m);
  });

  test('writes through a link to an empty folder', async () => {
    const real = join(folder.path, 'real');
    await mkdir(real);
    await symlink(real, join(folder.path, 'link'));
    expect((await init(join(folder.path, 'link'))).code).toBe(0);
    expect(await readdir(real)).toContain('endpoints');
  });

  test('prints a folder that a shell would split in quotes', async () => {
    const { stdout } = await init(join(folder.path, "it's mine"));
    expect(stdout).toContain("it'\\''s mine'\n");
  });

  test('its definitions have no fault, and its test passes', async () => {
    const env = {
      TAILRACE_ENDPOINTS_DIR: join(project, 'endpoints'),
      TAILRACE_SOURCES_DIR: join(project, 'sources'),
      TAILRACE_ALERTS_DIR: join(project, 'alerts'),
      TAILRACE_DASHBOARDS_DIR: join(project, 'dashboards'),
      TAILRACE_DATA_DIR: join(folder.path, 'data'),
    };
    const check = await runCli(['check'], { env });
    expect([check.code, check.stdout]).toEqual([
      0,
      '3 endpoints, 2 sources, 3 alerts and 1 dashboard, no faults\n',
    ]);
    const tested = await runCli(['test'], { env });
    expect([tested.code, tested.stdout]).toEqual([0, expect.stringContaining('11 tests passed')]);
  });

  test('keeps what npm and git have put into the folder, as after npm install of the package', async () => {
    const dir = join(folder.path, 'installed');
    await mkdir(join(dir, 'node_modules/tailrace'), { recursive: true });
    await mkdir(join(dir, '.git'));
    const text = '{"dependencies":{"tailrace":"file:tailrace-0.1.0.tgz"}}';
    for (const name of [
      'package.json',
      'package-lock.json',
      'tailrace-0.1.0.tgz',
      'node_modules/tailrace/package.json',
    ])
      await writeFile(join(dir, name), text);
    const { code, stdout } = await init(dir);
    expect(code).toBe(0);
    expect(stdout).not.toContain('npm install');
    expect(await read(dir, 'package.json')).toBe(text);
    expect(await readdir(dir)).toContain('endpoints');
  });

  test.each([
    ['has files', ['notes.txt', '.env'], 'it has .env, notes.txt;'],
    ['has many', ['a', 'b', 'c', 'd', 'e', 'f', 'g'], 'it has a, b, c, d, e and 2 more;'],
    [
      'is of another package',
      ['package.json', 'package-lock.json'],
      'it has package-lock.json, package.json;',
    ],
    ['was initialised before', ['endpoints', 'sources'], 'it has endpoints, sources;'],
  ])('refuses a folder that %s, and writes nothing', async (what, names, said) => {
    const dir = join(folder.path, what);
    await mkdir(dir);
    for (const name of names) await writeFile(join(dir, name), '');
    const { code, stdout, stderr } = await init(dir);
    expect([code, stdout]).toEqual([1, '']);
    expect(stderr).toContain(
      `tailrace: ${dir} is not empty, ${said} nothing was written; name a new or empty folder`,
    );
    expect(await readdir(dir)).toEqual(names.toSorted());
  });

  test.each([
    ['file', 'it is a file, or below a file'],
    ['file/below', 'it is a file, or below a file'],
    ['x'.repeat(300), 'ENAMETOOLONG: name too long, stat '],
  ])('refuses %.10s, which cannot be a folder', async (name, reason) => {
    await writeFile(join(folder.path, 'file'), '');
    const dir = join(folder.path, name);
    const { code, stderr } = await init(dir);
    expect(code).toBe(1);
    expect(stderr).toContain(`tailrace: no project can be created in ${dir}: ${reason}`);
    expect(stderr).toMatch(/; name a new or empty folder\n$/);
  });
});

describe('the template', () => {
  test.each([
    ['endpoint.yaml', 'README.md', 'yaml'],
    ['query.sql', 'README.md', 'sql'],
    ['tests/last-hour.yaml', 'docs/testing-endpoints.md', 'yaml'],
  ])('has the %s that %s shows', async (name, page, language) => {
    const [, shown] = new RegExp(`\`\`\`${language}\n([^\`]*)\`\`\``).exec(await read(page)) ?? [];
    expect(await read('template/endpoints/failing.paths', name)).toBe(shown);
  });

  test.each(['cloudflare.logs.prod', 'deno-relay-logs'])(
    'has the source %s as it ships, for which there are sample logs',
    async (source) => {
      const name = `sources/${source}.yaml`;
      const [first = '', ...others] = (await read('template', name)).split('\n');
      expect(first).toMatch(/^# yaml-language-server: /);
      expect(others.join('\n')).toBe(await read(name));
    },
  );

  test('builds an image without fault, on the Node of ours', async () => {
    const { services } = parse(await read('template/compose.yaml')) as {
      services: { tailrace: { build: { dockerfile_inline: string } } };
    };
    const { dockerfile_inline: dockerfile } = services.tailrace.build;
    expect(validate(dockerfile)).toEqual([]);
    const [, image] = /^ARG NODE_IMAGE=(\S+)$/m.exec(await read('Dockerfile')) ?? [];
    expect(dockerfile).toMatch(`FROM ${image}\n`);
  });

  test('names in .env.example what its compose file requires', async () => {
    const { services } = parse(await read('template/compose.yaml')) as {
      services: { tailrace: { environment: Record<string, string>; env_file: string } };
    };
    // The settings that .env may add; those of the image's own stay.
    expect(services.tailrace.env_file).toBe('.env');
    expect(services.tailrace.environment).toMatchObject({ TAILRACE_HOST: '0.0.0.0', TAILRACE_PORT: '4000' });
    const required = Object.values(services.tailrace.environment)
      .join('\n')
      .match(/(?<=\$\{)\w+(?=:\?)/g);
    expect((await read('template/.env.example')).match(/^\w+(?==)/gm)).toEqual(required);
  });
});
