import { execFile, execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { chmod, cp, mkdir, readFile, rename, symlink, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, describe, expect, test } from 'vitest';
import { parse, parseAllDocuments } from 'yaml';
import { runCli } from '../support/cli.ts';
import { temporaryFolder } from '../support/service.ts';
import { DOCKERFILE, readImage } from './dockerfile.ts';
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
    exec('sh', ['-c', script.replace('exec tailrace serve', 'echo started')], { env }).then(
      ({ stdout }) => stdout.trim(),
      ({ stderr }) => String(stderr),
    );
  const shared = ['CLICKHOUSE_URL', 'TAILRACE_CONTROL_URL', 'TAILRACE_REDIS_URL', 'TAILRACE_TOKEN_SECRET'];
  const full = Object.fromEntries(shared.map((name) => [name, 'x']));
  expect(await start(full)).toBe('started');
  for (const name of shared) expect(await start({ ...full, [name]: '' })).toContain(name);
});

interface Patch {
  readonly path: string;
  readonly value: unknown;
}

interface Projected {
  readonly projected: {
    readonly sources: readonly {
      readonly configMap: { readonly items: readonly { readonly key: string; readonly path: string }[] };
    }[];
  };
}

/** Runs make-definitions.sh in a copy of the manifests. */
async function makeDefinitions(name: string, from: readonly string[]) {
  const copy = join(folder.path, name);
  await cp(FOLDER, copy, { recursive: true });
  const done = await exec('sh', [join(copy, 'make-definitions.sh'), ...from]).then(
    ({ stderr }) => ({ failed: false, stderr }),
    ({ stderr }) => ({ failed: true, stderr: String(stderr) }),
  );
  return { copy, ...done };
}

/** Mounts the volume as a kubelet does: the files in a folder of their own, links to it beside. Returns the container's settings. */
async function mountDefinitions(copy: string): Promise<Record<string, string>> {
  const patches = parse(await readFile(join(copy, 'definitions/pods.yaml'), 'utf8')) as Patch[];
  const readValue = (path: RegExp) => patches.find((patch) => path.test(patch.path))?.value;
  const { projected } = readValue(/\/volumes\//) as Projected;
  const mounted = join(copy, 'mounted');
  for (const { key, path } of projected.sources.flatMap(({ configMap }) => configMap.items)) {
    await mkdir(dirname(join(mounted, '..2026', path)), { recursive: true });
    await cp(join(copy, 'definitions', key), join(mounted, '..2026', path));
  }
  await symlink('..2026', join(mounted, '..data'));
  for (const kind of ['endpoints', 'sources', 'alerts', 'dashboards'])
    await symlink(`..data/${kind}`, join(mounted, kind));
  const env = readValue(/\/env$/) as { name: string; value: string }[];
  return Object.fromEntries(env.map(({ name, value }) => [name, value.replace('/definitions', mounted)]));
}

describe('the definitions of a project', () => {
  test('are what a pod serves', async () => {
    const { copy, stderr } = await makeDefinitions('own', ['template']);
    expect(stderr).toContain('has endpoints sources alerts dashboards');
    const env = await mountDefinitions(copy);
    expect(Object.keys(env)).toEqual([
      'TAILRACE_ENDPOINTS_DIR',
      'TAILRACE_SOURCES_DIR',
      'TAILRACE_ALERTS_DIR',
      'TAILRACE_DASHBOARDS_DIR',
    ]);
    const checked = await runCli(['check'], { env: { ...env, TAILRACE_DATA_DIR: join(copy, 'data') } });
    expect(checked).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/\b3 endpoints.*\b2 sources.*\b3 alerts.*\b1 dashboard/),
    });
  });

  test('may be endpoints or sources only, and those of the image again', async () => {
    const project = join(folder.path, 'only-endpoints');
    await cp('template/endpoints', join(project, 'endpoints'), { recursive: true });
    const { copy } = await makeDefinitions('some', [project]);
    expect(await readFile(join(copy, 'definitions/pods.yaml'), 'utf8')).not.toContain('TAILRACE_SOURCES_DIR');
    await exec('sh', [join(copy, 'make-definitions.sh')]);
    expect(existsSync(join(copy, 'definitions/pods.yaml'))).toBe(false);
    expect(parse(await readFile(join(copy, 'definitions/kustomization.yaml'), 'utf8'))).toEqual(
      parse(readFileSync(join(FOLDER, 'definitions/kustomization.yaml'), 'utf8')),
    );
  });

  test('are refused, and nothing is written, without any or with a name that a ConfigMap cannot have', async () => {
    const named = join(folder.path, 'named');
    await mkdir(join(named, 'sources'), { recursive: true });
    await writeFile(join(named, 'sources/a b.yaml'), '');
    for (const [i, [from, fault]] of [
      [join(FOLDER, 'base'), /neither a folder "endpoints"/],
      [named, /only letters, digits/],
    ].entries()) {
      const { copy, failed, stderr } = await makeDefinitions(`refused ${i}`, [String(from)]);
      expect([failed, stderr]).toEqual([true, expect.stringMatching(fault ?? '')]);
      expect(existsSync(join(copy, 'definitions/pods.yaml'))).toBe(false);
    }
  });
});

test('the image that init builds and that of the Dockerfile have the command of the pods and its settings', async () => {
  const project = parse(readFileSync('template/compose.yaml', 'utf8')) as {
    services: { tailrace: { build: { dockerfile_inline: string } } };
  };
  const [own, shipped] = [project.services.tailrace.build.dockerfile_inline, DOCKERFILE].map(readImage);
  expect(own?.env).toEqual(shipped?.env);
  const { spec } = parsed.get(DEPLOYMENT) as unknown as { spec: Workload };
  expect(spec.template?.spec?.containers?.[0]?.command?.at(-1)).toMatch(/&& exec tailrace serve$/);
  for (const image of [own, shipped]) {
    const runs = (image?.last ?? []).filter(([keyword]) => keyword === 'RUN').map(([, run]) => run);
    const [, program] = /ln -s (\S+) \/usr\/local\/bin\/tailrace/.exec(runs.join('\n')) ?? [];
    expect(program).toBe(join('/app', image?.command[1] ?? ''));
    expect(image?.last).toContainEqual(['WORKDIR', '/app']);
  }
  // The link is a command, as npm makes the file one.
  const bin = join(folder.path, 'bin');
  await mkdir(bin);
  await cp('bin', join(folder.path, 'program/bin'), { recursive: true });
  for (const name of ['src', 'package.json', 'node_modules'])
    await symlink(join(process.cwd(), name), join(folder.path, 'program', name));
  await chmod(join(folder.path, 'program/bin/tailrace.js'), 0o755);
  await symlink('../program/bin/tailrace.js', join(bin, 'tailrace'));
  const PATH = `${bin}:${dirname(process.execPath)}:/usr/bin:/bin`;
  const { stdout } = await exec('sh', ['-c', 'exec tailrace --version'], { env: { PATH } });
  expect(stdout).toMatch(/^\d+\.\d+\.\d+/);
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

  test.each(ways)(
    '%s mounts the definitions of a project, under names that change with them',
    async (way) => {
      const { copy } = await makeDefinitions(`mounted-${way}`, ['template']);
      await rename(join(copy, way, 'secrets.env.example'), join(copy, way, 'secrets.env'));
      const build = async () => {
        const { stdout } = await exec('kubectl', ['kustomize', join(copy, way)]);
        return parseAllDocuments(stdout).map((document) => document.toJS() as Manifest);
      };
      const objects = await build();
      const maps = objects.filter(({ kind }) => kind === 'ConfigMap').map(({ metadata }) => metadata.name);
      expect(maps).toEqual(
        expect.arrayContaining(
          ['endpoints', 'sources'].map((kind) => expect.stringMatching(`^tailrace-${kind}-`)),
        ),
      );
      const pods = objects.find(({ kind }) => /^(Deployment|StatefulSet)$/.test(kind));
      for (const name of maps) expect(JSON.stringify(pods)).toContain(`"name":"${name}"`);
      expect(pods && [findSchemaFault(pods), findWorkloadFaults(pods)]).toEqual([undefined, []]);
      await writeFile(join(copy, 'definitions/endpoints_failing.paths_query.sql'), 'SELECT 1');
      const changed = (await build()).find(({ kind }) => /^(Deployment|StatefulSet)$/.test(kind));
      expect(JSON.stringify(changed)).not.toBe(JSON.stringify(pods));
    },
  );
});
