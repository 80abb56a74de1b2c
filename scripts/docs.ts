// npm run docs: writes the pages that are generated from the code. test/docs.unit.test.ts fails when one is out of date.
import { mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { renderPages } from './docs/pages.ts';

const pages = await renderPages();
for (const folder of ['docs/endpoints', 'schema']) mkdirSync(folder, { recursive: true });
for (const name of readdirSync('docs/endpoints')) rmSync(join('docs/endpoints', name));
for (const [path, text] of pages) {
  writeFileSync(path, text);
  process.stdout.write(`${path}\n`);
}
