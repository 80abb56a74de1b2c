import type { Parameter } from '../../definitions/parameter.ts';
import { toText } from '../../definitions/parameter-type.ts';
import { TailraceError } from '../../errors.ts';
import type { RawParameters } from '../../query/parameters.ts';
import { PARAMETERS_MAX } from '../query-string.ts';

/**
 * The parameters of a query string and a JSON body together. One that is in both counts as sent twice.
 *
 * @param body parsed JSON; `undefined` if none was sent
 * @param declared the endpoint's parameters, which may be JSON values of their types; all others are texts
 * @throws TailraceError `invalid_request` if the body is not an object of such values
 */
export function mergeParameters(
  query: RawParameters,
  body: unknown,
  declared: readonly Parameter[],
): RawParameters {
  if (body === undefined) return query;
  if (typeof body !== 'object' || body === null || Array.isArray(body))
    throw invalid('the body must be a JSON object of parameters, such as {"project":"aurora"}');
  const entries = Object.entries(body);
  if (entries.length > PARAMETERS_MAX)
    throw invalid(
      `the body has more than ${PARAMETERS_MAX} parameters; send those that the endpoint declares`,
    );
  const merged: Record<string, string | readonly string[] | undefined> = { ...query };
  for (const [name, json] of entries) {
    const parameter = declared.find((one) => one.name === name);
    const value = readValue(json, parameter);
    if (value === undefined)
      throw invalid(
        `the body's ${JSON.stringify(name.slice(0, 100))} must be a text in quotes${describeTyped(parameter)}`,
      );
    const before = Object.hasOwn(merged, name) ? merged[name] : undefined;
    merged[name] = before === undefined ? value : [before, value].flat();
  }
  return merged;
}

/** `undefined` for a JSON value that the parameter does not accept. */
function readValue(json: unknown, parameter: Parameter | undefined): string | string[] | undefined {
  if (typeof json === 'string') return json;
  if (Array.isArray(json) && parameter?.parseList !== undefined) {
    const texts = json.map((item) => readScalar(item, parameter));
    return texts.every((text) => text !== undefined) ? texts : undefined;
  }
  return parameter?.parseList === undefined ? readScalar(json, parameter) : undefined;
}

function readScalar(json: unknown, parameter: Parameter | undefined): string | undefined {
  if (typeof json === 'string') return json;
  if (typeof json !== 'number' && typeof json !== 'boolean') return undefined;
  return typeof json === parameter?.jsonType ? toText(json) : undefined;
}

function describeTyped(parameter: Parameter | undefined): string {
  if (parameter?.parseList !== undefined) return `, or a list of ${parameter.jsonType}s`;
  return parameter === undefined || parameter.jsonType === 'string' ? '' : `, or a ${parameter.jsonType}`;
}

function invalid(message: string): TailraceError {
  return new TailraceError('invalid_request', message);
}
