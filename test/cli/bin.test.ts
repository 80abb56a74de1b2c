import { cp } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { nodePackage, pinnedNode } from '../../bin/bundled-node.js';
import { startProgram } from '../support/cli.ts';
import { ownFolder } from '../support/service.ts';

const folder = await ownFolder();

/** The Node of the tests, which says that it is an old one. */
const OLD = `data:text/javascript,${encodeURIComponent(
  "Object.defineProperty(process, 'versions', { value: { node: '20.19.0' } }); Object.defineProperty(process, 'version', { value: 'v20.19.0' });",
)}`;

test('on an old Node, without that of the packages, says what to install', async () => {
  for (const name of ['bin', 'package.json']) await cp(name, join(folder.path, name), { recursive: true });
  const args = ['--import', OLD, join(folder.path, 'bin/tailrace.js'), '--version'];
  const install = `install it beside tailrace by "npm install ${nodePackage}@${pinnedNode()}"`;
  const why = `needs Node 24 or newer, and this is v20.19.0; ${install}, or put a newer Node first in PATH`;
  const ended = await startProgram(process.execPath, args, { stdin: '' }).ended;
  expect(ended).toEqual({ code: 2, stdout: '', stderr: `tailrace: ${why}\n` });
});
