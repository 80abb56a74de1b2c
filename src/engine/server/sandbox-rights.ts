/** `GRANT SELECT(a, b) ON tailrace.t TO u`, which may end with `WITH GRANT OPTION`. */
const LISTED = /^GRANT (?<rights>.+) ON (?<target>\S+) TO (?<rest>.+)$/;
const COLUMNS = /\([^()]*\)/g;
// SHOW adds nothing: names and types of readable tables are visible without it.
const HARMLESS = /^(?:SELECT|SHOW(?: (?:DATABASES|TABLES|COLUMNS|DICTIONARIES))?)$/;
// Exists in every server. With ClickHouse's default configuration, most of `system` needs a GRANT.
const TOO_WIDE = /^(?:\*|system\b|information_schema\b)/i;

/**
 * Finds the fault in the rights of a user that runs callers' SQL; `undefined`: it can only read tables.
 *
 * @param listed the lines of `SHOW GRANTS FINAL`, which replaces roles by their rights
 */
export function findRightsFault(
  listed: readonly string[],
  { database, cluster }: { readonly database: string; readonly cluster: string },
): string | undefined {
  let readsOurs = false;
  for (const line of listed) {
    if (/^REVOKE /.test(line)) continue; // narrows an earlier GRANT
    const { rights = '', target = '', rest = '' } = LISTED.exec(line)?.groups ?? {};
    const table = target.replaceAll('`', '');
    const isRemote = cluster !== '' && rights === 'READ' && table === 'REMOTE'; // the other servers of the cluster
    if (isRemote && isPlain(rest)) continue;
    const names = rights.replace(COLUMNS, '').split(', ');
    const isAllowed = isPlain(rest) && !TOO_WIDE.test(table) && names.every((name) => HARMLESS.test(name));
    if (!isAllowed) return `has a right that it must not have, ${line.slice(0, 300)}`;
    if (names.includes('SELECT') && table.startsWith(`${database}.`)) readsOurs = true;
  }
  return readsOurs ? undefined : `may not read any table of ${database}`;
}

function isPlain(grantee: string): boolean {
  return !/ WITH (?:GRANT|ADMIN) OPTION$/.test(grantee);
}
