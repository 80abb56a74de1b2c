import type { Command } from 'commander';
import { createProgram } from '../../src/cli/main.ts';
import { SETTINGS, type Setting } from '../../src/config/settings.ts';
import type { Bucket } from '../../src/definitions/bucket.ts';
import type { Endpoint, Parameter } from '../../src/definitions/endpoint.ts';
import { readDefinitions, refuseFaults } from '../../src/definitions/read.ts';
import type { Source } from '../../src/definitions/source.ts';
import { ERROR_CODES } from '../../src/errors.ts';
import { AGGREGATES, COMBINATORS, FUNCTIONS } from '../../src/query/sandbox/function.ts';
import { capacityPage } from './capacity.ts';
import { page, table } from './page.ts';

/** All generated pages: path from the repository's root → text. */
export async function renderPages(): Promise<Map<string, string>> {
  const { definitions, faults } = await readDefinitions({ endpointsDir: 'endpoints', sourcesDir: 'sources' });
  refuseFaults(faults);
  return new Map([
    ['docs/settings.md', settingsPage()],
    ['docs/errors.md', errorsPage()],
    ['docs/cli.md', cliPage()],
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
    ({ env, aliases, help, fallback, unit }) => {
      const names = [env, ...aliases].map((name) => `\`${name}\``).join(' or ');
      const value = fallback === '' ? 'empty' : `\`${fallback}\`${unit && unit !== 'port' ? ` ${unit}` : ''}`;
      return [names, value, help];
    },
  );
  return page(
    'Settings',
    `Environment variables, read once at start. A wrong value is refused with every other wrong one, and nothing is
replaced by a default in silence. A variable set to the empty string counts as not set.`,
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
    `The HTTP status is the truth and equals \`error.status\`. The body of every failure has this shape; \`errors\` is always
an array and names each wrong parameter:

\`\`\`json
{"error":{"code":"invalid_parameter","message":"interval must be one of hourly, minutely, daily","status":400,"request_id":"417a40db-e68e-40a5-8e6b-aecca3d17d88","errors":[{"parameter":"interval","message":"must be one of hourly, minutely, daily"}]}}
\`\`\`

429 and 503 carry \`Retry-After\` in seconds, 401 \`WWW-Authenticate\`, 405 \`Allow\`. The cause of a 5xx is in the log under
the request id, never in the answer. The last column is the exit code when a shell command fails so.`,
    table(['Status', 'Code', 'Meaning', 'Exit'], rows),
  );
}

function cliPage(): string {
  const program = createProgram();
  const helps = [program, ...allCommands(program)].map((command) => {
    const help = command.configureHelp({ helpWidth: 100 }).helpInformation().trimEnd();
    return `## ${pathOf(command)}\n\n\`\`\`\n${help}\n\`\`\``;
  });
  return page(
    'Commands',
    `In a checkout, and where the package is installed, run them as \`npx tailrace …\`; a supervisor starts [node itself](operating.md#start-and-stop). Settings are environment variables: see [settings](settings.md).

| Exit code | Meaning |
| --- | --- |
| 0 | done |
| 1 | the input is wrong; one line for each fault says what and where |
| 2 | misuse of the command |
| 3 | a failure of Tailrace, or stopped by a signal before the work was done |`,
    helps.join('\n\n'),
  );
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
    `What a caller's SELECT may call where an endpoint has [query sandboxing](sandboxing.md). Operators are functions too: \`+\` is
\`plus\`, \`x[1]\` is \`arrayElement\`. Aggregate functions also with the suffixes ${suffixes}.`,
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
          ? [`or else ${column.otherwise.join(' and ')}`]
          : []),
      ].join(', '),
      column.description,
    ]),
  );
  return page(
    'Shipped sources',
    'The kinds of log that come with Tailrace. [Sources](sources.md) tells how they work and how to add your own.',
    `${table(['Name', 'Table', 'What it holds', 'UUID'], rows)}\n\n## Typed columns\n\n${table(['Column', 'Type', 'Path in the event', 'Meaning'], columns)}`,
  );
}

/** The rows that a refresh reads again: [buckets](../endpoints.md#buckets). */
function bucketFacts(bucket: Bucket | undefined): string[][] {
  if (bucket === undefined) return [];
  const spans = [...bucket.spans].map(
    ([value, { widthSeconds, rangeSeconds }]) =>
      `${value && `\`${value}\`: `}${widthSeconds} of ${rangeSeconds} seconds`,
  );
  return [['[Buckets](../endpoints.md#buckets)', `by \`${bucket.column}\`; ${spans.join(', ')}`]];
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
      `\`GET /api/endpoints/query/${endpoint.name}\` or \`GET /api/endpoints/query/${endpoint.id}\``,
      `## Parameters\n\n${table(['Name', 'Type', 'Rule', 'Meaning'], parameters)}`,
      `## Columns\n\n${table(['Name', 'Type', 'Meaning'], columns)}`,
      `## SQL\n\n\`\`\`sql\n${endpoint.sql.trimEnd()}\n\`\`\``,
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
