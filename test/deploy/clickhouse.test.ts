import { copyFile, mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Session } from 'chdb';
import { afterAll, expect, test } from 'vitest';
import { temporaryFolder } from '../support/service.ts';

const folder = await temporaryFolder();
const page = await readFile('docs/scaling.md', 'utf8');
const [, statements = ''] = /## Two users[\s\S]*?```sql\n([\s\S]*?)```/.exec(page) ?? [];
const USERS = ['tailrace', 'tailrace_reader'];

/** The rights of the page, given to a user of another name as a file gives them: the engine then writes both in one way. */
function toUser(name: string): string {
  const grants = [...statements.matchAll(new RegExp(`^(GRANT .*) TO ${name};`, 'gm'))];
  const queries = grants.map(([, grant]) => `<query>${grant}</query>`).join('');
  return `<docs_${name}><password/><networks><ip>::1</ip></networks><grants>${queries}</grants></docs_${name}>`;
}

/** The real engine with a user of its own, under the file that is put into `users.d` of the image. */
async function openServer(): Promise<Session> {
  const file = (name: string) => join(folder.path, name);
  const inXml = (text: string) => `<clickhouse>${text}</clickhouse>`;
  await mkdir(file('users.d'));
  await copyFile('deploy/clickhouse/users.xml', file('users.d/tailrace.xml'));
  const own =
    '<default><password/><networks><ip>::/0</ip></networks><access_management>1</access_management></default>';
  const users = `${own}${USERS.map(toUser).join('')}`;
  await writeFile(
    file('users.xml'),
    inXml(`<profiles><default/></profiles><users>${users}</users><quotas><default/></quotas>`),
  );
  await writeFile(file('config.xml'), inXml(`<users_config>${file('users.xml')}</users_config>`));
  // Where the image has them from; compose passes them on under these names.
  process.env['OWNER_PASSWORD'] = 'the-owner';
  process.env['READER_PASSWORD'] = 'the-reader';
  return new Session(file('store'), { connectionArgs: [`--config-file=${file('config.xml')}`] });
}

const session = await openServer();
afterAll(async () => {
  session.close();
  await folder.remove();
});

const ask = (query: string) => session.query(query, 'TSVRaw').trim();

test.each(USERS)('%s of the scaled compose file has the rights of docs/scaling.md', (name) => {
  const rights = ask(`SHOW GRANTS FOR ${name}`);
  expect(rights).toContain('ON tailrace.*');
  expect(rights).toBe(ask(`SHOW GRANTS FOR docs_${name}`).replaceAll('docs_', ''));
});

test('the profile of its reader is that of docs/scaling.md', () => {
  const plain = (text: string) =>
    text
      .replace(/[`;]/g, '')
      .replace(/\s+/g, ' ')
      .replace(/(\d)\.(?!\d)/g, '$1')
      .trim();
  const [stated = ''] = /^CREATE SETTINGS PROFILE [\s\S]*?;/m.exec(statements) ?? [];
  expect(plain(ask('SHOW CREATE SETTINGS PROFILE tailrace_reader'))).toBe(plain(stated));
  expect(ask('SHOW CREATE USER tailrace_reader')).toContain('SETTINGS PROFILE `tailrace_reader`');
});

test('its administrator is let in from inside the container alone', () => {
  expect(ask("SELECT host_ip, host_names FROM system.users WHERE name = 'default'")).toBe(
    "[]\t['localhost']",
  );
});
