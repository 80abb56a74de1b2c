import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterEach, expect, test } from 'vitest';
import { findOwner } from '../../src/engine/store-file.ts';
import { endLeftProcesses, startProgram } from '../support/cli.ts';
import { ownFolder } from '../support/service.ts';

const root = join(import.meta.dirname, '../..');
const folder = await ownFolder();
afterEach(endLeftProcesses);

test('a service that an old Node has started ends in order when that gets a signal', async () => {
  const [cli, bundled] = [join(root, 'bin/tailrace.js'), pathToFileURL(join(root, 'bin/bundled-node.js'))];
  // As bin/tailrace.js does it there.
  const rerun = `import { rerunOn } from '${bundled}'; process.argv[1] = '${cli}'; rerunOn('${process.execPath}');`;
  await writeFile(join(folder.path, 'old.mjs'), rerun);
  const env = { TAILRACE_DATA_DIR: join(folder.path, 'data'), TAILRACE_PORT: '0', HOME: folder.path };
  const started = startProgram('node', ['old.mjs', 'serve'], { cwd: folder.path, env, stdin: '' });
  await started.waitFor(/ready at/);
  started.child.kill('SIGTERM');
  expect(await started.ended).toMatchObject({ code: 0, stderr: expect.stringContaining('"msg":"stopping"') });
  expect(findOwner(env.TAILRACE_DATA_DIR)).toBeUndefined();
});
