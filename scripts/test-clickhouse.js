// npm run test:clickhouse: the suites that both engines pass, on the ClickHouse server of CLICKHOUSE_URL. Its user must be allowed
// to create databases and users: each test file creates its own database and reading user, and removes them.
import { install, run, say } from './prepare.js';

if (!process.env.CLICKHOUSE_URL) {
  say(
    'set CLICKHOUSE_URL to the address of a ClickHouse server, such as http://default:password@127.0.0.1:8123',
  );
  process.exit(2);
}
await install();
process.env.TEST_ENGINE = 'clickhouse';
process.exit(await run('vitest', ['run', '--project', 'server', ...process.argv.slice(2)]));
