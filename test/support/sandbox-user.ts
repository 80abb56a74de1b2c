import { readFile } from 'node:fs/promises';
import type { FrontUser } from '../../trial/clickhouse-front.ts';

/** The name in deploy/clickhouse/users.xml and users.sql. */
export const SANDBOX_USER = 'tailrace_sandbox';

/** What of users.xml only a server reads: the engine in a process knows no settings that may change under `readonly`. */
export function withoutServerOnly(xml: string): string {
  return xml.replaceAll('<changeable_in_readonly/>', '').replaceAll('<readonly>1</readonly>', '');
}

/** The user of deploy/clickhouse/users.xml, whose profile is that of users.sql (test/deploy/settings.unit.test.ts). */
export async function readSandboxUser(password: string, database = 'tailrace'): Promise<FrontUser> {
  const file = await readFile('deploy/clickhouse/users.xml', 'utf8');
  const [, profile = ''] =
    new RegExp(`<profiles>.*?<${SANDBOX_USER}>(.*?)</${SANDBOX_USER}>`, 's').exec(file) ?? [];
  return {
    password,
    grants: [`GRANT SELECT ON ${database}.* TO ${SANDBOX_USER}`],
    profile: withoutServerOnly(profile),
  };
}

/** The statements of users.sql that create the user, for a database and names that begin as it is called. */
export async function readSandboxStatements(database: string, password: string): Promise<string[]> {
  const file = await readFile('deploy/clickhouse/users.sql', 'utf8');
  const [, ofThird = ''] = file.split(/^-- A third user.*$/m);
  const own = ofThird.replace(/\btailrace(?=_|\.\*)/g, database).replace("'…'", `'${password}'`);
  return own
    .split(';')
    .map((statement) => statement.trim())
    .filter((statement) => statement !== '');
}
