import { findParameters } from '../../sql/parameter.ts';
import { BUCKET_PARAMETERS } from '../bucket.ts';
import { endpointFields, PINNED_PREFIX } from '../endpoint.ts';
import type { Fault } from '../fault.ts';
import type { YamlFile } from '../yaml-file.ts';
import { RESERVED_PARAMETER } from './parameters.ts';

/** Every `@name` of the SQL is declared, and every declared parameter is used. */
export function checkParameterUse(file: YamlFile, sql: { file: string; text: string }): Fault[] {
  const { parameters = {}, bucket } = endpointFields(file);
  const declared = Object.keys(parameters);
  const bound = new Set([
    RESERVED_PARAMETER,
    ...(bucket === undefined ? [] : BUCKET_PARAMETERS),
    ...declared,
    ...declared.map((name) => PINNED_PREFIX + name),
  ]);
  const uses = findParameters(sql.text);
  const undeclared = uses
    .filter((use) => !bound.has(use.name))
    .map((use) => ({
      file: sql.file,
      line: use.line,
      message: isOfBucket(use.name)
        ? `@${use.name} needs "bucket" in ${file.file}`
        : `@${use.name} is not declared under "parameters" of ${file.file}`,
    }));
  const used = new Set([...uses.map((use) => use.name), bucket?.by]);
  const unused = declared
    .filter((name) => !used.has(name) && !isReserved(name))
    .map((name) =>
      file.fault(
        ['parameters', name],
        `parameter "${name}" is declared but @${name} is not used in ${sql.file}`,
      ),
    );
  return [...undeclared, ...unused];
}

function isOfBucket(name: string): boolean {
  return BUCKET_PARAMETERS.some((one) => one === name);
}

/** Whoever declares one of these has been told so by checks/parameters.ts. */
function isReserved(name: string): boolean {
  return name === RESERVED_PARAMETER || isOfBucket(name) || name.startsWith(PINNED_PREFIX);
}
