import type { Fault } from '../fault.ts';
import type { YamlFile } from '../yaml-file.ts';

/** No two definitions of one kind share an id, a name or, for sources, a table. Letter case does not tell apart. */
export function checkUnique(files: readonly YamlFile[], fields: readonly string[]): Fault[] {
  const faults: Fault[] = [];
  for (const field of fields) {
    const seen = new Map<string, string>();
    for (const file of files) {
      // A file whose shape is wrong is reported elsewhere; what it does have is still compared.
      const value = (file.value as Record<string, unknown> | null)?.[field];
      if (typeof value !== 'string') continue;
      const first = seen.get(value.toLowerCase());
      if (first === undefined) seen.set(value.toLowerCase(), file.file);
      else faults.push(file.fault([field], `${field} ${JSON.stringify(value)} is already taken by ${first}`));
    }
  }
  return faults;
}
