import { stringify } from 'yaml';
import type { YamlFile } from '../definitions/yaml-file.ts';
import { parseDefinition, refuseDraft } from './draft.ts';

interface Identity {
  /** The name of the file in messages. Default: endpoint.yaml. */
  readonly file?: string;
  readonly name: string;
  /** The id of the existing definition; `undefined`: it is new. */
  readonly id: string | undefined;
  readonly newId: () => string;
  /** Returns the name of the definition of its kind with a UUID. */
  readonly nameOf: (id: string) => string | undefined;
}

/**
 * Returns a definition with its name and UUID, each added as a line if it has none.
 *
 * @throws TailraceError `invalid_definition` if it has others: keys, clients and stored states know it by them
 */
export function complete(definition: string, { file, name, id, newId, nameOf }: Identity): string {
  const yaml = parseDefinition(definition, file);
  if (Array.isArray(yaml)) return definition; // the check reports its faults
  const fields = fieldsOf(yaml);
  if (fields === undefined) return definition;
  const owner = id === undefined ? nameOf(String(fields['id'])) : undefined;
  const faults = [
    ...(owner === undefined ? [] : [yaml.fault(['id'], takenFault(owner))]),
    ...(fields['name'] !== undefined && fields['name'] !== name
      ? [yaml.fault(['name'], nameFault(name))]
      : []),
    ...(id !== undefined && isOtherId(fields['id'], id) ? [yaml.fault(['id'], idFault(name, id))] : []),
  ];
  refuseDraft(faults);
  const lines = [
    ...(fields['id'] === undefined ? [`id: ${id ?? newId()}\n`] : []),
    ...(fields['name'] === undefined ? [`name: ${stringify(name)}`] : []),
  ];
  if (lines.length === 0) return definition;
  const completed = insertLines(definition, lines.join(''));
  const isWhole = fieldsOf(parseDefinition(completed))?.['id'] !== undefined;
  if (!isWhole) refuseDraft([yaml.fault([], `write ${lines.join(' and ').replaceAll('\n', '')}`)]);
  return completed;
}

function fieldsOf(yaml: YamlFile | unknown[]): Readonly<Record<string, unknown>> | undefined {
  if (Array.isArray(yaml)) return undefined;
  const { value } = yaml;
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return undefined;
  return value as Readonly<Record<string, unknown>>; // a map of YAML
}

function isOtherId(given: unknown, known: string): boolean {
  return given !== undefined && String(given).toLowerCase() !== known.toLowerCase();
}

function nameFault(name: string): string {
  return `"name" must be ${name}, under which it is saved`;
}

function idFault(name: string, id: string): string {
  return `"id" must stay ${id}: ${name} is known by it`;
}

function takenFault(owner: string): string {
  return `"id" is that of ${owner}; leave the line out to get a new one`;
}

/** Adds lines at the top, but below `---`. */
function insertLines(definition: string, lines: string): string {
  const [start = ''] = /^\uFEFF?(?:\s*---[^\S\n]*\n)?/.exec(definition) ?? [];
  return start + lines + definition.slice(start.length);
}
