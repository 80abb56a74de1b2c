import { type Command, Help, type Option } from 'commander';
import { createProgram } from '../../src/cli/main.ts';
import { SETTINGS, type Setting } from '../../src/config/settings.ts';
import type { Bucket } from '../../src/definitions/bucket.ts';
import type { Endpoint } from '../../src/definitions/endpoint.ts';
import { refuseFaults } from '../../src/definitions/fault.ts';
import type { Parameter } from '../../src/definitions/parameter.ts';
import { readDefinitions } from '../../src/definitions/read.ts';
import type { Source } from '../../src/definitions/source.ts';
import { ERROR_CODES } from '../../src/errors.ts';
import { AGGREGATES, COMBINATORS, FUNCTIONS } from '../../src/query/sandbox/function.ts';
import { apiPage } from './api.ts';
import { capacityPage } from './capacity.ts';
import { page, table } from './page.ts';

/** Every page that is generated from the code: path from the repository's root → text. */
export async function renderPages(): Promise<Map<string, string>> {
  const { definitions, faults } = await readDefinitions({ endpointsDir: 'endpoints', sourcesDir: 'sources' });
  refuseFaults(faults);
  return new Map([
    ['docs/api.md', apiPage()],
    ['docs/settings.md', settingsPage()],
    ['docs/errors.md', errorsPage()],
    ['docs/cli.md', await cliPage()],
    ['docs/sandboxing-functions.md', functionsPage()],
    ['docs/shipped-sources.md', sourcesPage(definitions.sources)],
    ['docs/capacity.md', capacityPage()],
    ...definitions.endpoints.map(
      (endpoint) => [`docs/endpoints/${endpoint.name}.md`, endpointPage(endpoint)] as const,
    ),
  ]);
}

function settingsPage(): string {
  const rows = Object.values<Setting<string | number>>(SETTINGS).map(
    ({ env, aliases, help, fallback, fallbackText, unit }) => {
      const names = [env, ...aliases].map((name) => `\`${name}\``).join(' or ');
      const value = fallback === '' ? 'empty' : `\`${fallback}\`${unit && unit !== 'port' ? ` ${unit}` : ''}`;
      return [names, fallbackText ?? value, help];
    },
  );
  return page(
    'Settings',
    `Configure Tailrace by environment variables, which it reads once at start. A wrong value is refused, together with every other wrong
one; nothing falls back to a default. An empty value counts as not set.`,
    table(['Variable', 'Default', 'Meaning'], rows),
  );
}

function errorsPage(): string {
  const rows = Object.entries(ERROR_CODES).map(([code, { status, exit, meaning }]) => [
    String(status),
    `\`${code}\``,
    meaning,
    String(exit),
  ]);
  return page(
    'Errors',
    `See what a failed request means. The HTTP status equals \`error.status\`; \`errors\` is always an array and names each wrong parameter:

\`\`\`json
{"error":{"code":"invalid_parameter","message":"interval must be one of hourly, minutely, daily","status":400,"request_id":"417a40db-e68e-40a5-8e6b-aecca3d17d88","errors":[{"parameter":"interval","message":"must be one of hourly, minutely, daily"}]}}
\`\`\`

429 and 503 carry \`Retry-After\` in seconds, 401 \`WWW-Authenticate\`, 405 \`Allow\`. The log has the cause of a 5xx under the request id; the
response has not. The last column is the exit code of a command that fails with this error.`,
    table(['Status', 'Code', 'Meaning', 'Exit'], rows),
  );
}

async function cliPage(): Promise<string> {
  const program = await createProgram();
  return page(
    'Commands',
    `Run commands as \`npx tailrace …\`, in a checkout or where the package is installed; supervisors start
[node itself](operating.md#start-and-stop). [Settings](settings.md) are environment variables. Each command has \`--help\`, \`tailrace\` also \`--version\`.

| Exit code | Meaning |
| --- | --- |
| 0 | done |
| 1 | wrong input; one line per fault says what and where |
| 2 | misuse of the command |
| 3 | a failure of Tailrace, or stopped by a signal before the work was done |`,
    allCommands(program).map(commandSection).join('\n\n'),
  );
}

function commandSection(command: Command): string {
  const head = `## ${pathOf(command)}\n\n${command.description()}`;
  if (command.commands.length > 0) return head;
  const options = command.options.filter((one) => !isShared(command, one));
  const terms = [
    ...command.registeredArguments.map((one) => [one.name(), one.description] as const),
    ...options.map((one) => [one.flags, describeOption(one)] as const),
  ];
  const width = Math.max(...terms.map(([term]) => term.length));
  const lines = terms.map(([term, text]) => `  ${term.padEnd(width)}  ${text}`);
  const shared =
    options.length < command.options.length ? ['  and the options of `tailrace keys create`'] : [];
  return `${head}\n\n\`\`\`\n${[usageOf(command), ...lines, ...shared].join('\n')}\n\`\`\``;
}

/** True of options of `keys update` that `keys create` has, too. */
function isShared(command: Command, option: Option): boolean {
  if (command.name() !== 'update') return false;
  const create = command.parent?.commands.find((one) => one.name() === 'create');
  return create?.options.some(({ flags }) => flags === option.flags) ?? false;
}

/** With its default, but for an empty list. */
function describeOption(option: Option): string {
  return new Help().optionDescription(option).replace(/ \(default: (\[\]|\{\})\)$/, '');
}

function usageOf(command: Command): string {
  const parts = [
    pathOf(command),
    ...(command.options.length > 0 ? ['[options]'] : []),
    ...command.registeredArguments.map((one) => `<${one.name()}${one.variadic ? '…' : ''}>`),
  ];
  return parts.join(' ');
}

function functionsPage(): string {
  const rows = Object.entries({ ...FUNCTIONS, ...AGGREGATES }).map(([kind, names]) => [
    kind,
    names
      .split(/\s+/)
      .map((name) => `\`${name}\``)
      .join(' '),
  ]);
  const suffixes = COMBINATORS.map((suffix) => `\`-${suffix}\``).join(', ');
  return page(
    'Functions of sandboxed queries',
    `What callers' SELECTs may call on an endpoint with [query sandboxing](sandboxing.md). Operators are functions, too: \`+\` is
\`plus\`, \`x[1]\` is \`arrayElement\`. Aggregate functions may have the suffixes ${suffixes}.`,
    table(['Kind', 'Functions'], rows),
  );
}

function sourcesPage(sources: readonly Source[]): string {
  const rows = sources.map((source) => [
    `\`${source.name}\``,
    `\`${source.table}\``,
    source.description,
    `\`${source.id}\``,
  ]);
  const columns = sources.flatMap((source) =>
    source.columns.map((column) => [
      `\`${source.table}.${column.name}\``,
      column.type,
      [
        `\`${column.path.join('.')}\``,
        ...(column.otherwise !== undefined && column.otherwise.length > 0
          ? [`else ${column.otherwise.join(' and ')}`]
          : []),
      ].join(', '),
      column.description,
    ]),
  );
  return page(
    'Shipped sources',
    'Send to and query these sources, which ship with Tailrace; [sources](sources.md) shows how to add your own.',
    `${table(['Name', 'Table', 'What it holds', 'UUID'], rows)}\n\n## Typed columns\n\n${table(['Column', 'Type', 'Path in the event', 'Meaning'], columns)}`,
  );
}

function bucketFacts(bucket: Bucket | undefined): string[][] {
  if (bucket === undefined) return [];
  const spans = [...bucket.spans].map(
    ([value, { widthSeconds, rangeSeconds }]) =>
      `${value && `\`${value}\`: `}${widthSeconds} of ${rangeSeconds} seconds`,
  );
  return [['[Time buckets](../endpoints.md#buckets)', `by \`${bucket.column}\`; ${spans.join(', ')}`]];
}

function endpointPage(endpoint: Endpoint): string {
  const seconds = (value: number | undefined) => (value === undefined ? 'disabled' : `${value} seconds`);
  const facts = [
    ['UUID', `\`${endpoint.id}\``],
    ['Max rows', String(endpoint.maxRows)],
    ['Caching', seconds(endpoint.cachingSeconds)],
    ['Cache warming', seconds(endpoint.warmingSeconds)],
    ['Query sandboxing', endpoint.sandboxing ? 'enabled' : 'disabled'],
    ...bucketFacts(endpoint.bucket),
  ];
  const parameters = endpoint.parameters.map((one) => [
    `\`${one.name}\``,
    one.type,
    rule(one),
    one.description,
  ]);
  const columns = endpoint.columns.map((column) => [`\`${column.name}\``, column.type, column.description]);
  return page(
    endpoint.name,
    endpoint.description,
    [
      table(['', ''], facts),
      `\`GET /api/endpoints/query/${endpoint.name}\` or \`GET /api/endpoints/query/${endpoint.id}\`; SQL: [query.sql](../../endpoints/${endpoint.name}/query.sql)`,
      `## Parameters\n\n${table(['Name', 'Type', 'Rule', 'Meaning'], parameters)}`,
      `## Columns\n\n${table(['Name', 'Type', 'Meaning'], columns)}`,
    ].join('\n\n'),
  );
}

function rule({ required, values, fallback, otherwise }: Parameter): string {
  const parts = [required ? 'required' : fallback === '' ? 'optional' : `default \`${fallback}\``];
  if (values.length > 0) parts.push(`one of ${values.map((value) => `\`${value}\``).join(', ')}`);
  if (otherwise !== undefined) parts.push(`any other value behaves as \`${otherwise}\``);
  return parts.join('; ');
}

function allCommands(command: Command): Command[] {
  return command.commands.flatMap((one) => [one, ...allCommands(one)]);
}

function pathOf(command: Command): string {
  return command.parent === null ? command.name() : `${pathOf(command.parent)} ${command.name()}`;
}
