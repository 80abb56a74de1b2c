import { parseInstant } from '../../lib/instant.ts';
import { BUCKET_PARAMETERS } from '../bucket.ts';
import { type EndpointFile, endpointFields, PINNED_PREFIX } from '../endpoint.ts';
import type { Fault } from '../fault.ts';
import type { YamlFile } from '../yaml-file.ts';

/** The name that the service itself binds: the instant of the query. */
export const RESERVED_PARAMETER = 'now';

type ParameterFields = NonNullable<EndpointFile['parameters']>[string];
type Report = (field: string, message: string) => void;

/** Each declared parameter makes sense by itself: `values` and `otherwise` with enum only, defaults among them. */
export function checkParameters(file: YamlFile): Fault[] {
  const faults: Fault[] = [];
  for (const [name, parameter] of Object.entries(endpointFields(file).parameters ?? {})) {
    const report: Report = (field, message) => faults.push(file.fault(['parameters', name, field], message));
    checkName(name, report);
    if (parameter.required === true && parameter.default !== undefined) {
      report(
        'default',
        `"default" of "${name}" can never be used, since "${name}" is required; remove one of the two`,
      );
    }
    if (parameter.type === 'timestamp' && !isTimestamp(parameter.default ?? '')) {
      report(
        'default',
        `"default" of "${name}" must be an ISO 8601 timestamp, such as 2026-11-20T07:00:00Z, not ${JSON.stringify(parameter.default)}`,
      );
    }
    if (parameter.type === 'enum') checkEnum(name, parameter, report);
    else checkNoEnum(name, parameter, report);
  }
  return faults;
}

function checkName(name: string, report: Report): void {
  if (name === RESERVED_PARAMETER)
    report('type', '"now" is bound by the service to the instant of the query; take another name');
  if (BUCKET_PARAMETERS.some((one) => one === name))
    report('type', `"${name}" is bound by the service where there is a "bucket"; take another name`);
  if (name.startsWith(PINNED_PREFIX))
    report(
      'type',
      `"${name}" must not begin with ${PINNED_PREFIX}: the service binds such names to the pins of keys`,
    );
}

function isTimestamp(text: string): boolean {
  return text === '' || parseInstant(text) !== undefined;
}

function checkEnum(name: string, parameter: ParameterFields, report: Report): void {
  const { values } = parameter;
  if (values === undefined) {
    report('values', `"values" of "${name}" is missing: an enum lists what is allowed`);
    return;
  }
  for (const field of ['default', 'otherwise'] as const) {
    const value = parameter[field];
    if (value === undefined || values.includes(value)) continue;
    report(
      field,
      `"${field}" of "${name}" must be one of ${values.join(', ')}, not ${JSON.stringify(value)}`,
    );
  }
}

function checkNoEnum(name: string, parameter: ParameterFields, report: Report): void {
  for (const field of ['values', 'otherwise'] as const) {
    if (parameter[field] !== undefined)
      report(field, `"${field}" of "${name}" needs type enum, not ${parameter.type}`);
  }
}
