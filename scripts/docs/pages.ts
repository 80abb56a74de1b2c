import type { Argument, Command } from 'commander';
import { createProgram } from '../../src/cli/main.ts';
import type { Setting } from '../../src/config/setting.ts';
import { SETTINGS } from '../../src/config/settings.ts';
import type { Endpoint } from '../../src/definitions/endpoint.ts';
import type { Parameter } from '../../src/definitions/parameter.ts';
import { readDefinitions } from '../../src/definitions/read.ts';
import type { Source } from '../../src/definitions/source.ts';
import { ERROR_CODES, rejectFaults } from '../../src/errors.ts';
import { AGGREGATES, COMBINATORS, FUNCTIONS } from '../../src/sandbox/function.ts';
import { apiPage } from './api.ts';
import { FILE_SCHEMAS } from './file-schemas.ts';
import { indexForAgents } from './llms.ts';
import { metricsPage } from './metrics.ts';
import { page, table, wrap } from './page.ts';
import { performancePage } from './performance.ts';
import { ingestPage } from './protocols.ts';

/** Every page that is generated from the code: path from the repository's root → text. */
export async function renderPages(): Promise<Map<string, string>> {
  const { definitions, faults } = await readDefinitions({ endpointsDir: 'endpoints', sourcesDir: 'sources' });
  rejectFaults(faults);
  const pages = new Map([
    ['docs/api.md', apiPage()],
    ['docs/ingest.md', ingestPage()],
    ['docs/settings.md', settingsPage()],
    ['docs/errors.md', errorsPage()],
    ['docs/metrics.md', metricsPage()],
    ['docs/cli.md', await cliPage()],
    ['docs/sandboxing-functions.txt', functionsText()],
    ['docs/shipped-sources.md', sourcesPage(definitions.sources)],
    ['docs/performance.md', performancePage()],
    ...Object.entries(FILE_SCHEMAS).map(
      ([name, schema]) => [`schema/${name}.json`, `${JSON.stringify(schema, undefined, 2)}\n`] as const,
    ),
    ...definitions.endpoints.map(
      (endpoint) => [`docs/endpoints/${endpoint.name}.md`, endpointPage(endpoint)] as const,
    ),
  ]);
  return pages.set('docs/llms.txt', indexForAgents(pages));
}

/** A heading for each setting, so that each has an anchor. */
function settingsPage(): string {
  const sections = Object.values<Setting<string | number>>(SETTINGS).map(
    ({ env, aliases, help, fallback, fallbackText }) => {
      const value = fallbackText ?? (fallback === '' ? '' : `\`${fallback}\``);
      const parts = [
        help,
        ...aliases.map((alias) => `Alias: \`${alias}\`.`),
        ...(value === '' ? [] : [`(${value})`]),
      ];
      return `## \`${env}\`\n\n${wrap(parts.join(' '))}`;
    },
  );
  return page(
    'Settings',
    `Configure Tailrace by environment variables, with units in their names and defaults in brackets. It reads them once at start and reports
all invalid values together. An empty value counts as not set: without a default, what the setting names is not used.`,
    sections.join('\n\n'),
  );
}

function errorsPage(): string {
  const codes = Object.entries(ERROR_CODES);
  const rows = codes.map(([code, { status, meaning }]) => [`\`${code}\` ${status}`, meaning]);
  const ofTailrace = codes.filter(([, { exit }]) => exit === 3).map(([code]) => `\`${code}\``);
  return page(
    'Errors',
    `See what a failed request means. \`errors\` is always an array and names each wrong parameter:

\`\`\`json
{"error":{"code":"invalid_parameter","message":"interval must be one of hourly, minutely, daily, not \\"weekly\\"","status":400,
  "request_id":"417a40db-e68e-40a5-8e6b-aecca3d17d88",
  "errors":[{"parameter":"interval","message":"must be one of hourly, minutely, daily, not \\"weekly\\""}]}}
\`\`\`

429 and 503 carry \`Retry-After\` in seconds. Only the log has the cause of a 5xx, under the request id.

A command that fails with ${ofTailrace.join(', ')} exits with 3; any other code means 1.`,
    table(['Code, status', 'Meaning'], rows),
  );
}

async function cliPage(): Promise<string> {
  const program = await createProgram();
  return page(
    'Commands',
    `Run commands as \`npx tailrace …\`; supervisors start [node itself](operating.md#start-and-stop). \`--help\` of a command explains its options.

Exit codes:

- 0: done
- 1: wrong input or setting; one line per fault says what and where
- 2: misuse of the command
- 3: a failure of Tailrace, a signal before the work was done, or a cause that may pass, such as a full disk: a supervisor should start it
  again`,
    allCommands(program)
      .filter((one) => one.commands.length === 0)
      .map(commandSection)
      .join('\n\n'),
  );
}

/** Its arguments and options, without their descriptions, which `--help` prints. */
function commandSection(command: Command): string {
  const terms = [
    ...command.registeredArguments.map(showArgument),
    ...command.options.map(({ long, flags }) => long ?? flags),
  ];
  const shown = terms.length === 0 ? '' : ` \`${terms.join(' ')}\``;
  return `## ${pathOf(command)}\n\n${wrap(`${command.description()}${shown}`)}`;
}

function showArgument(one: Argument): string {
  const name = `${one.name()}${one.variadic ? '…' : ''}`;
  return one.required ? `<${name}>` : `[${name}]`;
}

/** A list to search in, not to read: a text beside the pages. */
function functionsText(): string {
  const lines = Object.entries({ ...FUNCTIONS, ...AGGREGATES }).map(([kind, names]) =>
    wrap(`- ${kind}: ${names.trim().split(/\s+/).join(', ')}`),
  );
  return `Functions of callers' SELECTs (sandboxing.md), generated by \`npm run docs\`. Operators are functions, too: + is plus, x[1] is arrayElement.
Aggregate functions may have the suffixes ${COMBINATORS.map((suffix) => `-${suffix}`).join(', ')}.

${lines.join('\n')}
`;
}

function sourcesPage(sources: readonly Source[]): string {
  return page(
    'Shipped sources',
    `Send to and query these sources, or [add your own](sources.md). Each has its table, its UUID, and its typed columns with their first paths.`,
    sources.map(sourceSection).join('\n\n'),
  );
}

function sourceSection({ name, table: tableName, id, description, columns }: Source): string {
  const shown = columns.map(({ name: column, path, contains }) =>
    contains === undefined ? `\`${column}\` (\`${path.join('.')}\`)` : `\`${column}\``,
  );
  return `## ${name}\n\n${wrap(`${description} \`${tableName}\`, \`${id}\`: ${shown.join(', ')}.`)}`;
}

function endpointPage(endpoint: Endpoint): string {
  const { id, name, description } = endpoint;
  const folder = `../../endpoints/${name}`;
  const caching = [
    endpoint.cachingSeconds === undefined ? 'not cached' : `cached for ${endpoint.cachingSeconds} seconds`,
    ...(endpoint.warmingSeconds === undefined ? [] : [`refreshed every ${endpoint.warmingSeconds}`]),
  ];
  const facts = [
    ['UUID', `\`${id}\``],
    ['Answers', `at most ${endpoint.maxRows} rows, ${caching.join(', ')}`],
    ['Files', `[endpoint.yaml](${folder}/endpoint.yaml), [query.sql](${folder}/query.sql)`],
  ];
  const parameters = endpoint.parameters.map((one) =>
    wrap(`- \`${one.name}\` (${one.type}, ${rule(one)}): ${one.description}`),
  );
  const columns = endpoint.columns.map((one) => `\`${one.name}\` (${one.type})`);
  return page(
    name,
    wrap(`${description} \`GET /api/endpoints/query/${name}\``),
    [
      facts.map(([fact, value]) => wrap(`- ${fact}: ${value}`)).join('\n'),
      `## Parameters\n\n${parameters.join('\n')}`,
      `## Columns\n\n${wrap(`${columns.join(', ')}.`)}`,
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
