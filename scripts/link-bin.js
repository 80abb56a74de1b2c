// Makes `npx tailrace` run this checkout: npm links the commands of dependencies, but not a project's own.
import { mkdirSync, rmSync, symlinkSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const folder = join(root, 'node_modules', '.bin');
mkdirSync(folder, { recursive: true });
rmSync(join(folder, 'tailrace'), { force: true });
symlinkSync(join('..', '..', 'bin', 'tailrace.js'), join(folder, 'tailrace'));
