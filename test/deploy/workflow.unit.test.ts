import { readdirSync, readFileSync } from 'node:fs';
import { registerHooks } from 'node:module';
import { expect, test } from 'vitest';
import { parse } from 'yaml';

// GitHub's parser imports its schema as bundlers take it; Node wants to be told that it is JSON.
registerHooks({
  load: (url, context, next) =>
    next(url, url.endsWith('.json') ? { ...context, importAttributes: { type: 'json' } } : context),
});
const { convertWorkflowTemplate, NoOperationTraceWriter, parseWorkflow } = await import(
  '@actions/workflow-parser'
);

const FOLDER = '.github/workflows';
const FILES = [
  ...readdirSync(FOLDER).map((name) => `${FOLDER}/${name}`),
  'template/.github/workflows/tailrace.yaml', // of projects that `tailrace init` creates
];
const TEXT = readFileSync(`${FOLDER}/ci.yaml`, 'utf8');
const RELEASE = readFileSync(`${FOLDER}/release.yaml`, 'utf8');

interface Job {
  readonly 'timeout-minutes'?: number;
  readonly permissions?: unknown;
  readonly services?: Readonly<Record<string, { readonly image: string }>>;
  readonly strategy?: { readonly matrix: Readonly<Record<string, readonly string[]>> };
  readonly steps: readonly {
    readonly uses?: string;
    readonly run?: string;
    readonly with?: Readonly<Record<string, unknown>>;
  }[];
}

interface Workflow {
  readonly permissions?: unknown;
  readonly concurrency?: { readonly group?: string };
  readonly jobs: Readonly<Record<string, Job>>;
}

/** What GitHub's own parser says of the text, then our own rules. */
async function findFaults(text: string): Promise<string[]> {
  const result = parseWorkflow({ name: 'workflow.yaml', content: text }, new NoOperationTraceWriter());
  if (result.value !== undefined) await convertWorkflowTemplate(result.context, result.value);
  const told = result.context.errors.getErrors().map(({ rawMessage }) => rawMessage);
  return [...told, ...(told.length > 0 ? [] : findOwnFaults(parse(text) as Workflow))];
}

const SIGNING = '{"contents":"read","id-token":"write"}';

function findOwnFaults({ permissions, concurrency, jobs }: Workflow): string[] {
  const { scripts } = JSON.parse(readFileSync('package.json', 'utf8')) as { scripts: object };
  const steps = Object.values(jobs).flatMap((job) => job.steps);
  const commands = steps.flatMap(({ run = '' }) => [...run.matchAll(/^npm (?:run )?([\w:]+)/gm)]);
  const known = [...Object.keys(scripts), 'ci', 'pkg', 'publish'];
  const unknown = commands.map(([, name = '']) => name).filter((name) => !known.includes(name));
  const loose = steps.filter(({ uses }) => uses !== undefined && !/^[\w-]+\/[\w-]+@v\d+$/.test(uses));
  const keeping = steps.filter(
    (step) => step.uses?.startsWith('actions/checkout@') && step.with?.['persist-credentials'] !== false,
  );
  const strong = Object.entries(jobs).filter(
    ([, job]) => job.permissions !== undefined && JSON.stringify(job.permissions) !== SIGNING,
  );
  const endless = Object.entries(jobs).filter(([, job]) => job['timeout-minutes'] === undefined);
  return [
    ...(JSON.stringify(permissions) === '{"contents":"read"}' ? [] : ['may do more than read']),
    ...(concurrency?.group === undefined ? ['runs beside itself'] : []),
    ...strong.map(([name]) => `${name} may do more than read and sign`),
    ...endless.map(([name]) => `${name} has no end`),
    ...loose.map(({ uses }) => `${uses} has no major version`),
    ...keeping.map(() => 'a checkout keeps its credentials'),
    ...unknown.map((name) => `there is no script ${name}`),
  ];
}

test.each(FILES)('%s has no fault', async (file) => {
  expect(await findFaults(readFileSync(file, 'utf8'))).toEqual([]);
});

test.each([
  ['runs-on:', 'run-on:', "Unexpected value 'run-on'"],
  ['timeout-minutes: 60', 'timeout-minutes: long', "Unexpected value 'long'"],
  ['contents: read', 'contents: everything', "Unexpected value 'everything'"],
  ['contents: read', 'contents: write', 'may do more than read'],
  ['    timeout-minutes: 45\n', '', 'clickhouse has no end'],
  ['actions/checkout@v5', 'actions/checkout@main', 'actions/checkout@main has no major version'],
  ['          persist-credentials: false', '          fetch-depth: 1', 'a checkout keeps its credentials'],
  ['npm run test:clickhouse', 'npm run test:clickhuose', 'there is no script test:clickhuose'],
])('“%s” as “%s” is told', async (right, wrong, fault) => {
  expect(TEXT).toContain(right);
  expect(await findFaults(TEXT.replaceAll(right, wrong))).toContain(fault);
});

test('a job of a release may sign and nothing more', async () => {
  const wrong = RELEASE.replace('id-token: write', 'packages: write');
  expect(await findFaults(wrong)).toEqual(['package may do more than read and sign']);
});

test('a release publishes with provenance, by the settings that CONTRIBUTING.md names', () => {
  const { publishConfig } = JSON.parse(readFileSync('package.json', 'utf8')) as { publishConfig: object };
  expect(publishConfig).toEqual({ access: 'public', provenance: true });
  const page = readFileSync('CONTRIBUTING.md', 'utf8');
  const named = [...RELEASE.matchAll(/\b(?:vars|secrets)\.(\w+)/g)].map(([, name = '']) => name);
  for (const name of named) expect(page).toContain(`\`${name}\``);
  expect(named).toHaveLength(4);
});

test('a release is published only if no figure of bench/guard.json has become worse', () => {
  const { jobs } = parse(RELEASE) as Workflow & { jobs: { package: { needs?: string } } };
  expect(jobs.package.needs).toBe('guard');
  expect(jobs['guard']?.steps.at(-1)?.run).toBe('npm run bench -- guard');
});

test('it tests what the rest of the repository promises', () => {
  const { jobs } = parse(TEXT) as Workflow;
  const nodeOf = (name: string) =>
    jobs[name]?.steps.map((step) => step.with?.['node-version']).find((version) => version !== undefined);
  const { engines } = JSON.parse(readFileSync('package.json', 'utf8')) as { engines: { node: string } };
  expect(`>=${nodeOf('start')}`).toBe(engines.node); // bin/tailrace.js runs on it, and the rest on the Node of the packages
  expect(readFileSync('README.md', 'utf8')).toContain(`Node ${nodeOf('start')} or newer`);

  const { version = [] } = jobs['clickhouse']?.strategy?.matrix ?? {};
  expect(readFileSync('docs/scaling.md', 'utf8')).toContain(`a version below ${version[0]}`);
  expect(jobs['clickhouse']?.services?.['clickhouse']?.image).toMatch(/^clickhouse\/clickhouse-server:/);

  const page = readFileSync('docs/deploying.md', 'utf8');
  const started = TEXT.match(/docker compose -f deploy\/\S+ up --build --detach --wait/g) ?? [];
  expect(started).toHaveLength(2);
  for (const command of started) expect(page).toContain(command);
});
