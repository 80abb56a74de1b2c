import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { readVersion } from '../../../src/version.ts';
import { expectExit } from '../../support/cli.ts';
import { runProgram } from '../../support/program.ts';
import { ownFolder } from '../../support/service.ts';

const folder = await ownFolder();

const init = (dir: string) => runProgram(['init', dir], {});
const read = (...path: string[]) => readFile(join(...path), 'utf8');

describe('tailrace init', () => {
  const project = join(folder.path, 'new/my-logs');

  test('creates a project in a folder that does not exist, and prints the commands that come next', async () => {
    const { code, stdout, stderr } = await init(project);
    expect([code, stderr]).toEqual([0, '']);
    const files = ['.env.example', '.github', '.gitignore', 'README.md', 'compose.yaml', 'package.json'];
    expect(await readdir(project)).toEqual(expect.arrayContaining(files));
    expect(stdout).toMatch(
      /\n {2}cd .*my-logs\n {2}npm install\n {2}npx tailrace dev\n {2}npx tailrace test\n/,
    );
    const { dependencies } = JSON.parse(await read(project, 'package.json')) as { dependencies: object };
    expect(dependencies).toEqual({ tailrace: `^${readVersion()}` });
    expect(await read(project, '.gitignore')).toMatch(/^data\/$/m);
  });

  test('its definitions have no fault, and its test passes', async () => {
    const env = {
      TAILRACE_ENDPOINTS_DIR: join(project, 'endpoints'),
      TAILRACE_SOURCES_DIR: join(project, 'sources'),
      TAILRACE_ALERTS_DIR: join(project, 'alerts'),
      TAILRACE_DASHBOARDS_DIR: join(project, 'dashboards'),
      TAILRACE_DATA_DIR: join(folder.path, 'data'),
    };
    const counts = '3 endpoints, 3 sources, 3 alerts, 1 dashboard and 1 saved search';
    expectExit(await runProgram(['check'], env), 0, new RegExp(`^${counts}, no faults\n$`));
    expectExit(await runProgram(['test'], env), 0, '11 tests passed');
  });

  test('rejects a folder that has files, and writes nothing', async () => {
    const names = ['notes.txt', '.env'];
    const dir = join(folder.path, 'has files');
    await mkdir(dir);
    for (const name of names) await writeFile(join(dir, name), '');
    const why = `${dir} is not empty, it has .env, notes.txt; nothing was written; name a new or empty folder`;
    expect(await init(dir)).toEqual({
      code: 1,
      stdout: '',
      stderr: expect.stringContaining(`tailrace: ${why}`),
    });
    expect(await readdir(dir)).toEqual(names.toSorted());
  });
});

describe('the template', () => {
  test.each(['endpoint.yaml', 'query.sql'])('has the %s that README.md shows', async (name) => {
    const language = name.split('.')[1];
    const [, shown] = new RegExp(`\`\`\`${language}\n([^\`]*)\`\`\``).exec(await read('README.md')) ?? [];
    expect(await read('template/endpoints/failing.paths', name)).toBe(shown);
  });

  test('has the shipped sources as they are', async () => {
    for (const name of await readdir('template/sources')) {
      const [, ...lines] = (await read('template/sources', name)).split('\n'); // the first names the schema
      expect(lines.join('\n')).toBe(await read('sources', name));
    }
  });
});
