import { findParameters, findQuotedParameters } from '../../sql/parameter.ts';
import { SQL_BOUNDS, SQL_INSTANT_PREFIX } from '../dialect.ts';
import { endpointFields } from '../endpoint.ts';
import { type Fault, placeAt } from '../fault.ts';
import { CURSOR_PARAMETER, CURSOR_PREFIX, PAGE_FROM, PAGE_PARAMETERS, PAGE_SKIP } from '../pages.ts';
import { NOW_PARAMETER, PINNED_PREFIX, readParameter } from '../parameter.ts';
import type { YamlFile } from '../yaml-file.ts';

/** Checks each declaration by itself: its name, the fields of its type, its default. */
export function checkParameters(file: YamlFile): Fault[] {
  const faults: Fault[] = [];
  const { parameters = {}, cursor } = endpointFields(file);
  for (const [name, declared] of Object.entries(parameters)) {
    const report = (field: string, message: string) =>
      faults.push(file.fault(['parameters', name, field], message));
    const taken = findNameFault(name) ?? (cursor && findCursorFault(name));
    if (taken !== undefined) report('type', taken);
    readParameter(name, declared, (field, message) => report(field, `"${field}" of "${name}" ${message}`));
  }
  return faults;
}

function findNameFault(name: string): string | undefined {
  if (name === NOW_PARAMETER)
    return '"now" is bound by the service to the instant of the query; take another name';
  if (isOfDialect(name))
    return `"${name}" is bound by the service if there is a "sql_dialect"; take another name`;
  if (name.startsWith(SQL_INSTANT_PREFIX))
    return `"${name}" must not begin with ${SQL_INSTANT_PREFIX}: the service binds such names if there is a "sql_dialect"`;
  if (name.startsWith(PINNED_PREFIX))
    return `"${name}" must not begin with ${PINNED_PREFIX}: the service binds such names to the pins of keys`;
  return undefined;
}

/** Checks the names that "cursor" reserves; without it an endpoint may have parameters of these names. */
function findCursorFault(name: string): string | undefined {
  if (name === CURSOR_PARAMETER)
    return (
      '"cursor" is where callers send the cursor of a page if there is a "cursor"; rename the ' +
      'parameter or remove "cursor"'
    );
  if (name.startsWith(CURSOR_PREFIX))
    return `"${name}" must not begin with ${CURSOR_PREFIX}: if there is a "cursor", the service binds such names`;
  if (isOfRange(name) || name === PAGE_SKIP)
    return `"${name}" is bound by the service if there is a "cursor"; take another name`;
  return undefined;
}

// Faults of one kind: finding the place of each takes a time in proportion to the text.
const FAULTS_MAX = 20;

/**
 * Checks that every `@name` of the SQL is declared, and that every declared parameter is used. The engine can check a
 * query without the latter.
 */
export function checkParameterUse(
  file: YamlFile,
  sql: { file: string; text: string },
): { readonly undeclared: readonly Fault[]; readonly unused: readonly Fault[] } {
  const { parameters = {}, cursor, sql_dialect: dialect } = endpointFields(file);
  const declared = Object.keys(parameters);
  const bound = new Set([
    NOW_PARAMETER,
    ...(dialect === undefined ? [] : Object.values(SQL_BOUNDS)),
    ...pageParameters(cursor?.by),
    ...(cursor === undefined ? [] : PAGE_PARAMETERS),
    ...declared,
    ...declared.map((name) => PINNED_PREFIX + name),
  ]);
  const uses = findParameters(sql.text);
  const undeclared = uses
    .filter((use) => !bound.has(use.name))
    .slice(0, FAULTS_MAX)
    .map((use) => ({
      file: sql.file,
      ...placeAt(sql.text, use.start),
      message: isOfRange(use.name)
        ? `@${use.name} needs "cursor" in ${file.file}`
        : isOfDialect(use.name)
          ? `@${use.name} needs "sql_dialect" in ${file.file}`
          : isOfPages(use.name)
            ? `@${use.name} needs "${use.name.slice(CURSOR_PREFIX.length)}" in "by" of "cursor" in ${file.file}`
            : `@${use.name} is not declared under "parameters" of ${file.file}`,
    }));
  const used = new Set<string | undefined>(uses.map((use) => use.name));
  if (used.has(PAGE_FROM)) for (const name of [cursor?.after, cursor?.until]) used.add(name);
  const unused = declared
    .filter((name) => !used.has(name) && findNameFault(name) === undefined) // checkParameters reports those
    .slice(0, FAULTS_MAX);
  const quoted = unused.length === 0 ? new Map<string, number>() : findQuotedParameters(sql.text);
  const notUsed = (name: string) => {
    const at = quoted.get(name);
    const message = `parameter "${name}" is declared but @${name} is not used in ${sql.file}`;
    if (at === undefined) return file.fault(['parameters', name], message);
    const inQuotes = `@${name} is in quotes, so it is plain text; write the parameter without quotes`;
    return { file: sql.file, ...placeAt(sql.text, at), message: inQuotes };
  };
  return { undeclared, unused: unused.map(notUsed) };
}

/** @param by of a file that may have a wrong shape */
function pageParameters(by: unknown): string[] {
  const texts: unknown[] = Array.isArray(by) ? by : [];
  return texts.map((text) => CURSOR_PREFIX + /^\w*/.exec(String(text).trim())?.[0]);
}

function isOfPages(name: string): boolean {
  return name.startsWith(CURSOR_PREFIX) && name.length > CURSOR_PREFIX.length;
}

function isOfDialect(name: string): boolean {
  return Object.values(SQL_BOUNDS).some((one) => one === name);
}

function isOfRange(name: string): boolean {
  return PAGE_PARAMETERS.some((one) => one === name);
}
