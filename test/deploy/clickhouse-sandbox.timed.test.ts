import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Session } from 'chdb';
import { afterAll, describe, expect, test } from 'vitest';
import { openCore } from '../../src/service/open-core.ts';
import { SANDBOX_USER, withoutServerOnly } from '../support/sandbox-user.ts';
import { ownFolder, storeEvents, testConfig } from '../support/service.ts';

const folder = await ownFolder();
const file = (name: string) => join(folder.path, name);

/** On the same store, the engine's one user with all that users.xml gives the user for callers' SELECTs. */
async function openAsSandbox(): Promise<Session> {
  const shipped = withoutServerOnly(await readFile('deploy/clickhouse/users.xml', 'utf8'));
  const ofUser =
    new RegExp(`<users>.*?<${SANDBOX_USER}>(.*?)</${SANDBOX_USER}>`, 's').exec(shipped)?.[1] ?? '';
  const user = ofUser.replace(/<password .*?\/>/, '<password/>');
  const config = shipped
    .replace(/<users>.*<\/users>/s, `<users><default>${user}</default></users>`)
    .replace('</profiles>', '<default/></profiles>');
  await mkdir(file('config'));
  await writeFile(file('config/users.xml'), config);
  const text = `<clickhouse><users_config>${file('config/users.xml')}</users_config></clickhouse>`;
  await writeFile(file('config/config.xml'), text);
  return new Session(file('store'), { connectionArgs: [`--config-file=${file('config/config.xml')}`] });
}

// The embedded engine's process fills the store, and ends: its rights are those of the owner.
const core = await openCore(testConfig(folder.path), 'a test');
const events = ['p', 'p', 'q', ''].map((project) => ({ project, event_message: 'x' }));
await storeEvents(core, 'cloudflare.logs.prod', events, Date.now());
await core.close();
const session = await openAsSandbox();
afterAll(() => session.close());

const ask = (query: string) => session.query(query, 'TSVRaw').trim();

describe('the user for callers’ SELECTs, in the real engine', () => {
  test.each([
    ['names a project', { origin: 'a b', project: 'p' }, '2'],
    ['names one that has a quote', { project: "it's" }, '0'],
    ['names none', { origin: 'a b' }, '4'],
  ])('sees rows of the project alone where the request %s', (_, value, rows) => {
    const text = JSON.stringify(value).replaceAll("'", "\\'");
    expect(ask(`SELECT count() FROM tailrace.edge_logs SETTINGS log_comment = '${text}'`)).toBe(rows);
    expect(
      ask(`SELECT count() FROM tailrace.edge_logs WHERE project != '' OR 1 SETTINGS log_comment = '${text}'`),
    ).toBe(rows);
  });

  test.each([
    ["INSERT INTO tailrace.edge_logs (id) VALUES ('x')", 'ACCESS_DENIED'],
    ['TRUNCATE TABLE tailrace.edge_logs', 'ACCESS_DENIED'],
    ["SELECT * FROM file('/etc/passwd')", 'ACCESS_DENIED'],
    ['SELECT 1 SETTINGS max_threads = 64', 'SETTING_CONSTRAINT_VIOLATION'],
  ])('is rejected %s', (sql, name) => {
    expect(() => ask(sql)).toThrow(name);
  });

  test('has only rights that the service accepts', () => {
    expect(ask('SHOW GRANTS FINAL')).toBe('GRANT SELECT ON tailrace.* TO default');
    expect(ask('CHECK GRANT INSERT ON tailrace.*')).toBe('0');
    expect(ask('CHECK GRANT SELECT ON tailrace.*')).toBe('1');
  });
});
