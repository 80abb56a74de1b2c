import { findParameters } from '../../sql/parameter.ts';
import { endpointFields, PINNED_PREFIX } from '../endpoint.ts';
import type { Fault } from '../fault.ts';
import type { YamlFile } from '../yaml-file.ts';
import { RESERVED_PARAMETER } from './parameters.ts';

/** Every `@name` of the SQL is declared, and every declared parameter is used. */
export function checkParameterUse(file: YamlFile, sql: { file: string; text: string }): Fault[] {
  const declared = Object.keys(endpointFields(file).parameters ?? {});
  const bound = new Set([RESERVED_PARAMETER, ...declared, ...declared.map((name) => PINNED_PREFIX + name)]);
  const uses = findParameters(sql.text);
  const undeclared = uses
    .filter((use) => !bound.has(use.name))
    .map((use) => ({
      file: sql.file,
      line: use.line,
      message: `@${use.name} is not declared under "parameters" of ${file.file}`,
    }));
  const used = new Set(uses.map((use) => use.name));
  const unused = declared
    .filter((name) => !used.has(name) && name !== RESERVED_PARAMETER && !name.startsWith(PINNED_PREFIX))
    .map((name) =>
      file.fault(
        ['parameters', name],
        `parameter "${name}" is declared but @${name} is not used in ${sql.file}`,
      ),
    );
  return [...undeclared, ...unused];
}
