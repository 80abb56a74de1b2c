import { endpointFields } from '../endpoint.ts';
import type { Fault } from '../fault.ts';
import type { YamlFile } from '../yaml-file.ts';

/** Sandboxing is a promise about safety, so a version that cannot keep it refuses it. */
export function checkSandboxing(file: YamlFile): Fault[] {
  if (endpointFields(file).query_sandboxing !== true) return [];
  return [
    file.fault(['query_sandboxing'], '"query_sandboxing" must be false: this version cannot sandbox queries'),
  ];
}
