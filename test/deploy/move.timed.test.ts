import { cp, mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { startProgram } from '../support/cli.ts';
import { temporaryFolder } from '../support/service.ts';

const folder = await temporaryFolder();
afterAll(folder.remove);

// Writes its arguments down; `cat` of the secret prints one.
const DOCKER = `#!/bin/sh
echo "$*" >>"$CALLS"
case $* in *'cat /data/token.secret') echo of-the-old-service-0123456789abcdefghijklmn ;; esac
`;

/** The commands of a section of docs/deploying.md. */
async function readCommands(heading: string): Promise<string> {
  const page = await readFile('docs/deploying.md', 'utf8');
  const [, commands = ''] = page.split(`### ${heading}\n`)[1]?.split('```sh\n') ?? [];
  return commands.split('```')[0] ?? '';
}

test('the commands that move one container to two replicas keep its secret, and start replicas when all is copied', async () => {
  const calls = join(folder.path, 'calls');
  await mkdir(join(folder.path, 'bin'));
  await writeFile(join(folder.path, 'bin/docker'), DOCKER, { mode: 0o755 });
  await cp('deploy', join(folder.path, 'deploy'), { recursive: true });
  await writeFile(join(folder.path, 'deploy/.env'), 'TAILRACE_PRIVATE_KEY=of-the-old-service');
  const commands = await readCommands('From one container to two replicas');
  const env = { PATH: `${join(folder.path, 'bin')}:${process.env['PATH']}`, CALLS: calls };
  const done = await startProgram('/bin/sh', ['-euc', commands], { cwd: folder.path, env }).ended;
  expect(done).toMatchObject({ code: 0 });

  const steps = (await readFile(calls, 'utf8')).trim().split('\n');
  const order = [
    /cat \/data\/token\.secret$/,
    /compose\.yaml down$/,
    /compose\.scaled\.yaml up --detach --wait clickhouse postgres valkey$/,
    / keys copy --from \/data$/,
    / copy --to http:\/\/clickhouse:8123\/tailrace$/,
    /compose\.scaled\.yaml up --build --detach --wait$/,
  ];
  expect(steps).toEqual(order.map((step) => expect.stringMatching(step)));
  const written = await readFile(join(folder.path, 'deploy/.env'), 'utf8');
  expect(written).toMatch(/^TAILRACE_PRIVATE_KEY=of-the-old-service$/m);
  expect(written.match(/^TAILRACE_TOKEN_SECRET=.*$/gm)).toEqual([
    'TAILRACE_TOKEN_SECRET=of-the-old-service-0123456789abcdefghijklmn',
  ]);
});
