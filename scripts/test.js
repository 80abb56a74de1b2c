// npm test: every check, then every test. With arguments, only the tests that they name: npm test -- test/sql
import { judgeAudit } from './audit.js';
import { audit, buildConsole, install, run, say } from './prepare.js';
import { installPrograms } from './programs.js';

await install();
await buildConsole();
installPrograms(say);
const only = process.argv.slice(2);
const checks = [
  ['format, lint and layers', 'biome', ['check', '--error-on-warnings', '.']],
  ['types', 'tsc', ['--noEmit']],
  ['types of the console', 'tsc', ['--noEmit', '-p', 'console']],
  ['types of its tests', 'tsc', ['--noEmit', '-p', 'test/e2e']],
  ['unused files, exports and packages', 'knip', []],
];
if (only.length === 0) {
  say('checking known weaknesses of the packages that are shipped');
  const { stdout, reason } = await audit();
  const { state, message } = judgeAudit(stdout, reason);
  say(`audit ${state}: ${message}`);
  if (state === 'failed') process.exit(1);
}
const steps = only.length > 0 ? [] : checks;
for (const [what, command, args] of [...steps, ['tests', 'vitest', ['run', ...only]]]) {
  say(`checking ${what}`);
  const code = await run(command, args);
  if (code !== 0) {
    say(`${what}: failed`);
    process.exit(code);
  }
}
