import { describeShipped } from '../definitions/folders.ts';
import { SCOPES } from '../keys/scope.ts';
import type { Service } from '../service.ts';

/** Says that the service is ready, where, and how to call it; makes a first key where nobody could get in. */
export async function printWelcome({ keyring, store }: Service, address: string): Promise<void> {
  const isOpen = await keyring.hasUsableKey();
  const made = isOpen ? undefined : (await keyring.create({ name: 'first key', scopes: SCOPES })).key;
  const key = made ?? '$TAILRACE_KEY';
  const lines = [`Tailrace is ready at ${address}`, `Open ${address}/ in a browser for the console.`, ''];
  const shipped = describeShipped(store.folders);
  if (shipped.length > 0) lines.push(...shipped.map((line) => `Note: ${line}`), '');
  if (made === undefined) {
    lines.push('Put a key into TAILRACE_KEY to try it. A key for everything, the console included:', '');
    lines.push(`  npx tailrace keys create --name me --scope ${SCOPES.join(',')}`);
  } else {
    lines.push('A key was made, with every scope. It is not shown again:', '', `  ${made}`);
  }
  lines.push('');
  for (const query of EXAMPLES) {
    const name = query.split('?')[0] ?? '';
    if (store.registry.findEndpoint(name) === undefined) continue;
    lines.push(`curl -s -H "X-API-KEY: ${key}" "${address}/api/endpoints/query/${query}"`);
  }
  process.stdout.write(`${lines.join('\n')}\n\n`);
}

/** `aurora` is a project of the sample logs. */
const EXAMPLES = [
  'functions.invocation-stats?project=aurora&interval=1day',
  'logs.all?project=aurora&project_tier=PRO',
  'usage.api-counts?project=aurora&interval=hourly',
];
