import type { Fault } from '../fault.ts';
import type { YamlFile } from '../yaml-file.ts';

/**
 * No two definitions of one kind share an id, a name or, for sources, a table, in any letter case. Ids and names share one
 * lookup, so no name may be the id of another definition either.
 */
export function checkUnique(files: readonly YamlFile[], fields: readonly string[]): Fault[] {
  const ids = findFirst(files, 'id');
  return fields.flatMap((field) => {
    const taken = findFirst(files, field);
    return files.flatMap((file) => {
      const value = textOf(file, field);
      const owners = [taken.get(value), field === 'name' ? ids.get(value) : undefined];
      const other = owners.find((owner) => owner !== undefined && owner !== file.file);
      if (other === undefined) return [];
      const text = JSON.stringify(fieldOf(file, field));
      return [file.fault([field], `${field} ${text} is already taken by ${other}`)];
    });
  });
}

/** The first file with each value of a field, in lower case. */
function findFirst(files: readonly YamlFile[], field: string): Map<string | undefined, string> {
  const first = new Map<string | undefined, string>();
  for (const file of files) {
    const value = textOf(file, field);
    if (value !== undefined && !first.has(value)) first.set(value, file.file);
  }
  return first;
}

/** Files of a wrong shape, which are reported elsewhere, are compared by the fields that they have. */
function textOf(file: YamlFile, field: string): string | undefined {
  const value = fieldOf(file, field);
  return typeof value === 'string' ? value.toLowerCase() : undefined;
}

function fieldOf(file: YamlFile, field: string): unknown {
  return (file.value as Record<string, unknown> | null)?.[field];
}
