import { findWithList } from '../../sql/with-list.ts';
import { endpointFields } from '../endpoint.ts';
import type { Fault } from '../fault.ts';
import type { YamlFile } from '../yaml-file.ts';

/** The name in which callers of a sandboxed endpoint send their SELECT. */
export const SQL_PARAMETER = 'sql';

/** Sandboxing lets callers read the views of the stored query: it needs some, and the parameter `sql` for itself. */
export function checkSandboxing(file: YamlFile, sql: { text: string }): Fault[] {
  const { query_sandboxing: isOn, parameters = {} } = endpointFields(file);
  if (isOn !== true) return [];
  const faults: Fault[] = [];
  if (Object.hasOwn(parameters, SQL_PARAMETER)) {
    faults.push(
      file.fault(
        ['parameters', SQL_PARAMETER],
        '"sql" is where callers send their SELECT when "query_sandboxing" is true; take another name',
      ),
    );
  }
  if (sql.text.trim() !== '' && findWithList(sql.text, (select) => select) === undefined) {
    faults.push(
      file.fault(
        ['query_sandboxing'],
        '"query_sandboxing" needs a query with views that callers may read: WITH name AS (SELECT …) SELECT …',
      ),
    );
  }
  return faults;
}
