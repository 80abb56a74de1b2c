#!/usr/bin/env node
// Plain JavaScript that any Node can read, so that an old one runs this on the Node of the packages instead of a syntax error.
import { existsSync, mkdirSync } from 'node:fs';
import module from 'node:module';
import { availableParallelism, homedir } from 'node:os';
import { join } from 'node:path';
import { findBundledNode, nodePackage, pinnedNode, rerunOn } from './bundled-node.js';

const NODE_MAJOR_MIN = 24;

if (Number(process.versions.node.split('.')[0]) >= NODE_MAJOR_MIN) await run();
else rerun();

async function run() {
  // For files, DNS and compression. libuv reads this when the first thread starts; the engine process gets its own size.
  process.env.UV_THREADPOOL_SIZE ??= String(Math.max(4, availableParallelism()));

  // The engine gives memory back as soon as it is free. By default it keeps it for five seconds, which under steady load means
  // always. Its allocator reads this when the library is loaded.
  process.env.JE_MALLOC_CONF ??= 'dirty_decay_ms:1000';

  keepCompiled();
  const source = new URL('../src/cli/main.ts', import.meta.url);
  const { main } = await import(
    existsSync(source) ? source.href : new URL('../dist/cli/main.js', import.meta.url).href
  );
  await main(process.argv);
}

/**
 * Keeps compiled code for the next start, which is then a quarter shorter. In the home directory: what others may write must not
 * be run. A directory that cannot be written costs nothing but the time.
 */
function keepCompiled() {
  try {
    if (!process.env.NODE_COMPILE_CACHE) {
      const cache = process.env.XDG_CACHE_HOME || join(homedir(), '.cache');
      // Step by step: where the system denies that a name can exist, as below /proc, Node would try for ever.
      for (const folder of [cache, join(cache, 'tailrace')]) if (!existsSync(folder)) mkdirSync(folder);
      process.env.NODE_COMPILE_CACHE = join(cache, 'tailrace');
    }
    module.enableCompileCache(); // the engine process inherits the variable
  } catch {
    // This user has no home directory, or may not write there.
  }
}

function rerun() {
  const node = findBundledNode();
  if (node !== undefined) return rerunOn(node);
  const pinned = pinnedNode();
  const install = pinned ? `install it beside tailrace by "npm install ${nodePackage}@${pinned}", or ` : '';
  process.stderr.write(
    `tailrace: needs Node ${NODE_MAJOR_MIN} or newer, and this is ${process.version}; ${install}put a newer Node first in PATH\n`,
  );
  process.exit(2);
}
