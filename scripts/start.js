// npm start: from a fresh clone to a running service with sample logs.
import { buildConsole, install, node, run } from './prepare.js';

await install();
await buildConsole();
// The level of a service that a person watches: one line a request would bury what is printed for them.
const level = process.env.TAILRACE_LOG_LEVEL ?? 'warn';
const args = ['bin/tailrace.js', 'serve', '--sample', ...process.argv.slice(2)];
process.exitCode = await run(node, args, { env: { TAILRACE_LOG_LEVEL: level } });
