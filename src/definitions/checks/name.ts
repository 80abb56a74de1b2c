import { endpointFields } from '../endpoint.ts';
import type { Fault } from '../fault.ts';
import type { YamlFile } from '../yaml-file.ts';

/** Names of endpoints are dotted (spec 1). One without a dot is served all the same: earlier versions took it without a word. */
export function findNameWarning(file: YamlFile): Fault[] {
  const { name } = endpointFields(file);
  if (name.includes('.')) return [];
  return [
    file.fault(
      ['name'],
      `"${name}" has no dot: names of endpoints are dotted, such as logs.${name}; it is served all the same`,
    ),
  ];
}
