import type { Endpoint } from '../definitions/endpoint.ts';
import { describeFolders } from '../definitions/folders.ts';
import { exampleOf } from '../http/openapi/document.ts';
import type { Core } from '../service/open-core.ts';

// `aurora` is a project of the sample logs.
const EXAMPLES: Readonly<Record<string, string>> = {
  'functions.invocation-stats': 'project=aurora&interval=1day',
  'logs.all': 'project=aurora&project_tier=PRO',
  'usage.api-counts': 'project=aurora&interval=hourly',
};

const EXAMPLES_MAX = 3;

/**
 * Prints the address and calls to try.
 *
 * @param about lines about the key
 * @param key for the calls; `undefined`: the caller's own, from the environment
 */
export function printWelcome(
  { folders, registry }: Core,
  address: string,
  { about, key = '$TAILRACE_KEY' }: { readonly about: readonly string[]; readonly key: string | undefined },
): void {
  const shipped = describeFolders(folders).map((line) => `Note: ${line}`);
  const calls = registry.endpoints.slice(0, EXAMPLES_MAX).map((endpoint) => {
    const url = `${address}/api/endpoints/query/${endpoint.name}?${exampleQuery(endpoint)}`;
    return `curl -s -H "X-API-KEY: ${key}" "${url}"`;
  });
  const lines = [
    `Tailrace is ready at ${address}`,
    `Open ${address}/ in a browser for the console.`,
    ...['', ...shipped],
    ...(shipped.length > 0 ? [''] : []),
    ...about,
    ...['', ...calls, '', ''],
  ];
  process.stdout.write(lines.join('\n'));
}

/** Returns values for the required parameters of any other endpoint. */
function exampleQuery({ name, parameters }: Endpoint): string {
  const required = parameters.filter((parameter) => parameter.required);
  const values = required.map((one): [string, string] => [one.name, String(exampleOf(one) ?? 'x')]);
  return EXAMPLES[name] ?? new URLSearchParams(values).toString();
}
