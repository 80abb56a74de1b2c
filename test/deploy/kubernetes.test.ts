import { execFile, execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { cp, mkdir, rename } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, describe, expect, test } from 'vitest';
import { parse, parseAllDocuments } from 'yaml';
import { temporaryFolder } from '../support/service.ts';
import {
  FOLDER,
  findSchemaFault,
  findUnknownNames,
  type Manifest,
  parseManifest,
  readManifests,
} from './kubernetes.ts';
import { findSettingFaults, isSecretSetting } from './settings.ts';

const exec = promisify(execFile);
const folder = await temporaryFolder();
afterAll(folder.remove);

const ways = ['embedded', 'replicas'] as const;
const texts = new Map([...readManifests('base'), ...ways.flatMap((way) => [...readManifests(way)])]);
const DEPLOYMENT = `${FOLDER}/replicas/deployment.yaml`;

/** Copies of the deployment with one thing wrong, and a part of what is to be said of it. */
const wrong: readonly [right: string, wrong: string, fault: RegExp][] = [
  ['replicas: 2', 'replcas: 2', /"replcas"' does not exist/],
  ['readOnlyRootFilesystem', 'readonlyRootFilesystem', /"readonlyRootFilesystem"' does not exist/],
  ['replicas: 2', 'replicas: two', /spec\/replicas must be integer/],
  ['memory: 1Gi', 'memory: 1Gigabyte', /limits\/memory must match/],
  ['        - name: tailrace\n          image', '        - image', /must have required property name/],
  ['kind: Deployment', 'kind: Deploy', /there is no apps\/v1 Deploy/],
  ['runAsNonRoot: true', 'runAsNonRoot: false', /is not to run as root/],
  ['allowPrivilegeEscalation: false', 'allowPrivilegeEscalation: true', /is to gain no privilege/],
  ['drop: [ALL]', 'drop: [CHOWN]', /is to have no capability/],
  ['readOnlyRootFilesystem: true', 'readOnlyRootFilesystem: false', /files are to be read-only/],
  ['            limits:\n              memory: 1Gi\n', '', /bound of memory/],
  ['path: /ready', 'path: /health', /is to be ready by \/ready/],
  ['path: /health', 'path: /ready', /is to be alive by \/health/],
  [
    '      labels:\n        app.kubernetes.io/name: tailrace',
    '      labels:\n        app.kubernetes.io/name: other',
    /not what its selector/,
  ],
];

interface Container {
  readonly command?: readonly string[];
  readonly resources?: { readonly limits?: { readonly memory?: string } };
  readonly readinessProbe?: { readonly httpGet?: { readonly path?: string } };
  readonly livenessProbe?: { readonly httpGet?: { readonly path?: string } };
  readonly securityContext?: {
    readonly allowPrivilegeEscalation?: boolean;
    readonly readOnlyRootFilesystem?: boolean;
    readonly capabilities?: { readonly drop?: readonly string[] };
  };
}

interface Workload {
  readonly selector?: { readonly matchLabels?: object };
  readonly template?: {
    readonly metadata?: { readonly labels?: object };
    readonly spec?: {
      readonly securityContext?: { readonly runAsNonRoot?: boolean; readonly runAsUser?: number };
      readonly containers?: readonly Container[];
    };
  };
}

/** Our own rules for what runs Tailrace. */
function findWorkloadFaults(manifest: Manifest): string[] {
  const { selector, template } = (manifest['spec'] ?? {}) as Workload;
  if (template === undefined) return [];
  const { securityContext, containers = [] } = template.spec ?? {};
  const each = (holds: (container: Container) => boolean) => containers.every(holds);
  const rules: [right: boolean, fault: string][] = [
    [
      securityContext?.runAsNonRoot === true && securityContext.runAsUser === 10_001,
      'it is not to run as root, but as the user of the Dockerfile',
    ],
    [
      each(({ securityContext: own }) => own?.allowPrivilegeEscalation === false),
      'it is to gain no privilege',
    ],
    [
      each(({ securityContext: own }) => own?.capabilities?.drop?.includes('ALL') === true),
      'it is to have no capability',
    ],
    [
      each(({ securityContext: own }) => own?.readOnlyRootFilesystem === true),
      'its files are to be read-only',
    ],
    [each(({ resources }) => resources?.limits?.memory !== undefined), 'it is to have a bound of memory'],
    [each(({ readinessProbe: probe }) => probe?.httpGet?.path === '/ready'), 'it is to be ready by /ready'],
    [each(({ livenessProbe: probe }) => probe?.httpGet?.path === '/health'), 'it is to be alive by /health'],
    [
      JSON.stringify(selector?.matchLabels) === JSON.stringify(template.metadata?.labels),
      'its pods are not what its selector says',
    ],
  ];
  return rules.filter(([right]) => !right).map(([, fault]) => fault);
}

const parsed = new Map([...texts].map(([path, text]) => [path, parseManifest(text)]));
const copies = new Map(
  wrong.map(([from, to], i) => {
    const text = texts.get(DEPLOYMENT) ?? '';
    if (!text.includes(from)) throw new Error(`${DEPLOYMENT} has no “${from}”`);
    return [`copy ${i}` as string, parseManifest(text.replaceAll(from, to))] as const;
  }),
);
const unknown = await findUnknownNames(folder.path, new Map([...parsed, ...copies]));

function findFaults(name: string, manifest: Manifest): string[] {
  const schema = findSchemaFault(manifest);
  const names = unknown.get(name);
  return [...[schema, names].filter((fault) => fault !== undefined), ...findWorkloadFaults(manifest)];
}

test.each([...parsed])('%s is right by Kubernetes’ schema and our own rules', (path, manifest) => {
  expect(findFaults(path, manifest)).toEqual([]);
});

test.each(wrong.map((one, i) => [...one, i] as const))('“%s” as “%s” is told', (_right, _wrong, fault, i) => {
  const name = `copy ${i}`;
  const manifest = copies.get(name);
  expect(manifest && findFaults(name, manifest).join('\n')).toMatch(fault);
});

const readEnv = (path: string) =>
  Object.fromEntries(
    readFileSync(path, 'utf8')
      .split('\n')
      .filter((line) => /^\w+=/.test(line))
      .map((line) => [line.slice(0, line.indexOf('=')), line.slice(line.indexOf('=') + 1)]),
  );

/** Secrets that are more than letters. */
const ADDRESSES: Readonly<Record<string, string>> = {
  CLICKHOUSE_URL: 'https://clickhouse.example.com:8443/tailrace',
  TAILRACE_CONTROL_URL: 'postgres://tailrace:secret@postgres.example.com:5432/tailrace',
  TAILRACE_REDIS_URL: 'redis://:secret@redis.example.com:6379',
};

describe.each(ways)('%s', (way) => {
  const at = (name: string) => join(FOLDER, way, name);
  const settings = readEnv(at('settings.env'));
  const secrets = readEnv(at('secrets.env.example'));

  test('names settings alone, and none that is secret where all can read it', () => {
    const filled = Object.keys(secrets).map((name) => [name, ADDRESSES[name] ?? name.padEnd(64, '-')]);
    const env = { ...settings, ...(Object.fromEntries(filled) as Record<string, string>) };
    expect(findSettingFaults(env)).toEqual([]);
    expect(Object.keys(settings).filter(isSecretSetting)).toEqual([]);
  });

  test('gives no value of its own for a secret', () => {
    const given = Object.keys(secrets).filter((name) => isSecretSetting(name) && secrets[name] !== '');
    expect(given).toEqual([]);
  });

  test('has a kustomization of files that exist, and the version of package.json', () => {
    const kustomization = parse(readFileSync(at('kustomization.yaml'), 'utf8')) as {
      resources: string[];
      images: { newTag: string }[];
    };
    const { version } = JSON.parse(readFileSync('package.json', 'utf8')) as { version: string };
    expect(kustomization.images.map(({ newTag }) => newTag)).toEqual([version]);
    expect(kustomization.resources.filter((name) => !existsSync(at(name)))).toEqual([]);
    const own = [...readManifests(way).keys()].map((path) => path.slice(at('').length + 1));
    expect(kustomization.resources.filter((name) => !name.startsWith('..')).toSorted()).toEqual(
      own.toSorted(),
    );
  });
});

test('a replica does not start with an empty secret that all of them need to share', async () => {
  const { spec } = parsed.get(DEPLOYMENT) as unknown as { spec: Workload };
  const [, , script = ''] = spec.template?.spec?.containers?.[0]?.command ?? [];
  const start = (env: Record<string, string>) =>
    exec('sh', ['-c', script.replace('exec node bin/tailrace.js serve', 'echo started')], { env }).then(
      ({ stdout }) => stdout.trim(),
      ({ stderr }) => String(stderr),
    );
  const shared = ['CLICKHOUSE_URL', 'TAILRACE_CONTROL_URL', 'TAILRACE_REDIS_URL', 'TAILRACE_TOKEN_SECRET'];
  const full = Object.fromEntries(shared.map((name) => [name, 'x']));
  expect(await start(full)).toBe('started');
  for (const name of shared) expect(await start({ ...full, [name]: '' })).toContain(name);
});

function hasKubectl(): boolean {
  try {
    execFileSync('kubectl', ['version', '--client'], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}

describe.skipIf(!hasKubectl())('as kubectl puts it together', () => {
  test.each(ways)('%s has the settings, the secrets and the image in its pods', async (way) => {
    const copy = join(folder.path, `kustomize-${way}`);
    await mkdir(copy);
    await cp(FOLDER, copy, { recursive: true });
    await rename(join(copy, way, 'secrets.env.example'), join(copy, way, 'secrets.env'));
    const { stdout } = await exec('kubectl', ['kustomize', join(copy, way)]);
    const objects = parseAllDocuments(stdout).map((document) => document.toJS() as Manifest);
    const named = (kind: string) => objects.find((one) => one.kind === kind)?.metadata.name;
    const pods = objects.find((one) => /^(Deployment|StatefulSet)$/.test(one.kind));
    expect(JSON.stringify(pods)).toContain(`{"configMapRef":{"name":"${named('ConfigMap')}"}}`);
    expect(JSON.stringify(pods)).toContain(`{"secretRef":{"name":"${named('Secret')}"}}`);
    expect(JSON.stringify(pods)).toContain('"image":"registry.example.com/tailrace:');
    for (const object of objects) expect(findSchemaFault(object)).toBeUndefined();
  });
});
