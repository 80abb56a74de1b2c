// npm test: every check, then every test. With arguments, only the tests that they name: npm test -- test/sql
import { install, run, say } from './prepare.js';

await install();
const only = process.argv.slice(2);
const checks = [
  ['format, lint and layers', 'biome', ['check', '--error-on-warnings', '.']],
  ['types', 'tsc', ['--noEmit']],
  ['unused files, exports and packages', 'knip', []],
];
const steps = only.length > 0 ? [] : checks;
for (const [what, command, args] of [
  ...steps,
  ['tests', 'vitest', ['run', ...(only.length > 0 ? only : ['--coverage'])]],
]) {
  say(`checking ${what}`);
  const code = await run(command, args);
  if (code !== 0) {
    say(`${what}: failed`);
    process.exit(code);
  }
}
