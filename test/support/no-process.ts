// Before every file of the unit ring (vitest.config.ts): a file that starts a process or loads the engine belongs to another ring.
import childProcess from 'node:child_process';
import { registerHooks, syncBuiltinESMExports } from 'node:module';

function refuse(): never {
  throw new Error(
    'files of the unit ring start no process and load no engine: drop ".unit" from the name of this one',
  );
}

const STARTS = ['exec', 'execFile', 'execFileSync', 'execSync', 'fork', 'spawn', 'spawnSync'] as const;
Object.assign(childProcess, Object.fromEntries(STARTS.map((name) => [name, refuse])));
syncBuiltinESMExports(); // or `import { spawn }` keeps the real one

registerHooks({
  resolve(specifier, context, next) {
    const resolved = next(specifier, context);
    return resolved.url.includes('/node_modules/chdb/') ? refuse() : resolved;
  },
});
