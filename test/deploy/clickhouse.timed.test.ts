import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Session } from 'chdb';
import { afterAll, expect, test } from 'vitest';
import { readDefinitions } from '../../src/definitions/read.ts';
import { findRightsFault } from '../../src/engine/server/sandbox-rights.ts';
import { writeValue } from '../../src/sql/quote.ts';
import { withoutServerOnly } from '../support/sandbox-user.ts';
import { temporaryFolder, testConfig } from '../support/service.ts';

const folder = await temporaryFolder();
const statements = await readFile('deploy/clickhouse/users.sql', 'utf8');
const shipped = await readFile('deploy/clickhouse/users.xml', 'utf8');
const [, ofThird = ''] = statements.split('-- A third user');
const USERS = ['tailrace', 'tailrace_reader', 'tailrace_sandbox'];

/** The rights of users.sql, given to a user of another name as a file gives them: the engine then writes both in one way. */
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
  await writeFile(file('users.d/tailrace.xml'), withoutServerOnly(shipped));
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
  process.env['SANDBOX_PASSWORD'] = 'the-sandbox';
  return new Session(file('store'), { connectionArgs: [`--config-file=${file('config.xml')}`] });
}

const session = await openServer();
afterAll(async () => {
  session.close();
  await folder.remove();
});

const ask = (query: string) => session.query(query, 'TSVRaw').trim();

test.each(USERS)('%s of the scaled compose file has the rights of users.sql', (name) => {
  const rights = ask(`SHOW GRANTS FOR ${name}`);
  expect(rights).toContain('ON tailrace.*');
  expect(rights).toBe(ask(`SHOW GRANTS FOR docs_${name}`).replaceAll('docs_', ''));
});

/** In one spelling, and without what the engine in a process does not know. */
const plain = (text: string) =>
  text
    .replace(/[`;]/g, '')
    .replace(/\breadonly = 1,|,\s*\w+ CHANGEABLE_IN_READONLY| CHANGEABLE_IN_READONLY/g, '')
    .replace(/\s+/g, ' ')
    .replace(/(\d)\.(?!\d)/g, '$1')
    .trim();
const stated = (begin: string) => plain(statements.slice(statements.indexOf(begin)).split(';')[0] ?? '');
/** The engine lists settings in an order of its own. */
const parts = (text: string) => text.replace(' SETTINGS ', ', ').split(', ').toSorted();

test('the engine can read each statement of users.sql', () => {
  const all = statements
    .replace(/--.*/g, '')
    .split(';')
    .map((text) => text.trim());
  for (const text of all.filter((one) => one !== ''))
    expect(ask(`SELECT length(formatQuerySingleLine(${writeValue(text)})) > 20`)).toBe('1');
});

test.each(['reader', 'sandbox'])('the profile of its %s is that of users.sql', (who) => {
  const shown = plain(ask(`SHOW CREATE SETTINGS PROFILE tailrace_${who}`));
  expect(parts(shown)).toEqual(parts(stated(`CREATE SETTINGS PROFILE tailrace_${who} `)));
  expect(ask(`SHOW CREATE USER tailrace_${who}`)).toContain(`SETTINGS PROFILE \`tailrace_${who}\``);
});

test('the settings that the profile lets be changed are those of users.sql, and it is read-only', () => {
  const [, profile = ''] = /<profiles>.*?<tailrace_sandbox>(.*?)<\/tailrace_sandbox>/s.exec(shipped) ?? [];
  const [, constraints = ''] = profile.split('<constraints>');
  const changeable = constraints.matchAll(/<(\w+)>(?:<max>\d+<\/max>)?<changeable_in_readonly\/>/g);
  const names = [...ofThird.matchAll(/(\w+)(?: = \d+ MAX \d+)? CHANGEABLE_IN_READONLY/g)];
  expect([...changeable].map(([, name]) => name)).toEqual(names.map(([, name]) => name));
  expect(names.length).toBeGreaterThan(10);
  expect(profile).toContain('<readonly>1</readonly>');
});

test('the quota of callers’ SELECTs is that of users.sql', () => {
  expect(plain(ask('SHOW CREATE QUOTA tailrace_sandbox'))).toBe(stated('CREATE QUOTA tailrace_sandbox '));
});

test('the user for callers’ SELECTs has no right that the service refuses, and the others have', () => {
  const find = (user: string) =>
    findRightsFault(ask(`SHOW GRANTS FOR ${user} FINAL`).split('\n'), { database: 'tailrace', cluster: '' });
  expect(find('tailrace_sandbox')).toBeUndefined();
  expect(find('tailrace_reader')).toBeUndefined();
  expect(find('tailrace')).toMatch(/^has a right that it must not have, GRANT SELECT ON system/);
  expect(find('default')).toMatch(/^has a right that it must not have, GRANT .* ON \*/);
});

test('the row policies name the table of every shipped source, and leave other users every row', async () => {
  const { definitions } = await readDefinitions(testConfig(folder.path));
  const [, policy = ''] = /^ {2}USING (NOT[\s\S]*?)\n {2}TO /m.exec(ofThird) ?? [];
  const list = (user: string) =>
    ask(`SELECT table, select_filter FROM system.row_policies WHERE short_name = '${user}' ORDER BY table`);
  const tables = definitions.sources.map(({ table }) => table).toSorted();
  const lines = (filter: string) => tables.map((table) => `${table}\t${filter}`).join('\n');
  const format = (filter: string) => ask(`SELECT formatQuerySingleLine(${writeValue(`SELECT ${filter}`)})`);
  expect(
    list('tailrace_sandbox')
      .split('\n')
      .map((line) => line.replace(/\t.*/, '')),
  ).toEqual(tables);
  for (const line of list('tailrace_sandbox').split('\n'))
    expect(format(line.split('\t')[1] ?? '')).toBe(format(policy));
  expect(list('tailrace')).toBe(lines('1'));
  expect(list('tailrace_reader')).toBe(lines('1'));
});

test('its administrator is let in from inside the container alone', () => {
  expect(ask("SELECT host_ip, host_names FROM system.users WHERE name = 'default'")).toBe(
    "[]\t['localhost']",
  );
});
