// npm start: from a fresh clone to a running service with sample logs.
import { buildConsole, install, node, run } from './prepare.js';

await install();
await buildConsole();
// The level of a service that a person watches: one line a request would bury what is printed for them.
const level = process.env.TAILRACE_LOG_LEVEL ?? 'warn';
const args = ['bin/tailrace.js', 'serve', '--sample', ...process.argv.slice(2)];
// The workbench saves into a copy: the shipped definitions stay as they are in the repository.
const edit = process.env.TAILRACE_EDIT_ENDPOINTS ?? 'copy';
const env = { TAILRACE_LOG_LEVEL: level, TAILRACE_EDIT_ENDPOINTS: edit };
process.exitCode = await run(node, args, { env });
