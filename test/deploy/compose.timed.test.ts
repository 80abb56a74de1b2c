import { execFile } from 'node:child_process';
import { copyFile, mkdir, readFile, stat, writeFile } from 'node:fs/promises';
import type { BlockList } from 'node:net';
import { basename, join } from 'node:path';
import { promisify } from 'node:util';
import { DCLinter } from 'dclint';
import { afterAll, describe, expect, test } from 'vitest';
import { temporaryFolder } from '../support/service.ts';
import {
  fillIn,
  findVariables,
  isOurs,
  PROJECT,
  readDynamicRanges,
  readScaled,
  readServices,
  SCALED,
  type Service,
  SINGLE,
  SUPABASE,
} from './compose.ts';
import { DOCKERFILE, readImage } from './dockerfile.ts';
import { findSettingFaults, isSecretSetting } from './settings.ts';

const exec = promisify(execFile);
const folder = await temporaryFolder();
afterAll(folder.remove);

const text = {
  single: await readFile(SINGLE, 'utf8'),
  scaled: await readFile(SCALED, 'utf8'),
  supabase: await readFile(SUPABASE, 'utf8'),
};
const SECRET = 'a'.repeat(64);

// Which key stands before which is a matter of taste, and ours is what a service is, what it gets, what it may.
const linter = new DCLinter({
  rules: {
    'service-keys-order': 0,
    'services-alphabetical-order': 0,
    'top-level-properties-order': 0,
    'require-quotes-in-ports': [1, { quoteType: 'double' }],
  },
  quiet: false,
  debug: false,
  exclude: [],
});

/** The part of dclint's results that is used here: its own types are lost under Node's resolution of modules. */
type LintResults = readonly { readonly messages: readonly { readonly message: string }[] }[];

/** What dclint says, by the schema of compose files among others, and what our own rules say of each service. */
async function findFaults(compose: string): Promise<string[]> {
  const file = join(folder.path, 'compose.yaml');
  await writeFile(file, compose);
  const results: LintResults = linter.lintFiles([file], false);
  const messages = results.flatMap((result) => result.messages);
  const services = Object.entries(messages.length > 0 ? {} : readServices(compose));
  return [
    ...messages.map(({ message }) => message),
    ...services.flatMap(([name, service]) => findServiceFaults(service).map((fault) => `${name}: ${fault}`)),
    ...services.flatMap(([name, service]) => findAddressFaults(name, service, readDynamicRanges(compose))),
    ...findBuildFaults(services.map(([, service]) => service)),
  ];
}

/** A service without an address of its own is given the first free one, also that of another which has not started yet. */
function findAddressFaults(
  name: string,
  { networks = [] }: Service,
  dynamic: ReadonlyMap<string, BlockList | undefined>,
): string[] {
  if (Array.isArray(networks)) return [];
  return Object.entries(networks).flatMap(([network, own]) => {
    if (own?.ipv4_address === undefined) return [];
    const isFree = dynamic.get(network)?.check(own.ipv4_address) === false;
    return isFree ? [] : [`${name}: its address in ${network} is to be outside an ip_range`];
  });
}

/** Compose builds services side by side: the second to name an image fails on the first. */
function findBuildFaults(services: readonly Service[]): string[] {
  const built = services.filter(({ build }) => build !== undefined).map(({ image }) => image);
  return built
    .filter((image, index) => built.indexOf(image) < index)
    .map((image) => `${image} is to be built once`);
}

function findServiceFaults(service: Service): string[] {
  const ours = isOurs(service);
  const { environment = {} } = service;
  const rules: [right: boolean, fault: string][] = [
    [service.read_only === true, 'its files are to be read-only'],
    [service.cap_drop?.includes('ALL') === true, 'it is to have no capability'],
    [service.security_opt?.includes('no-new-privileges:true') === true, 'it is to gain no privilege'],
    [service.mem_limit !== undefined, 'it is to have a bound of memory'],
    [service['logging'] !== undefined, 'its log is to have a bound'],
    [ours || /^[1-9]\d*:[1-9]\d*$/.test(service.user ?? ''), 'it is not to be root'],
    [ours || service.healthcheck !== undefined, 'it is to have a healthcheck'],
    [
      (service.ports ?? []).every((port) => port.startsWith('127.0.0.1:')),
      'it is to be reached from this machine alone',
    ],
    [
      Object.values(service.depends_on ?? {}).every(({ condition }) => condition === 'service_healthy'),
      'it is to wait until what it needs is healthy',
    ],
  ];
  const faults = rules.filter(([right]) => !right).map(([, fault]) => fault);
  if (!ours) return faults;
  for (const [name, value] of Object.entries(environment)) {
    if (isSecretSetting(name) && findVariables(value).all.size === 0 && name !== 'CLICKHOUSE_URL')
      faults.push(`${name} is to come from .env`);
  }
  const names = [...findVariables(JSON.stringify(environment)).all];
  const values = Object.fromEntries(names.map((name) => [name, `${name.toLowerCase()}${SECRET}`]));
  return [...faults, ...findSettingFaults(fillIn(environment, values))];
}

test.each(Object.entries({ ...text, project: await readFile(PROJECT, 'utf8') }))(
  'the %s compose file has no fault',
  async (_name, compose) => {
    expect(await findFaults(compose)).toEqual([]);
  },
);

test.each([
  [
    '    mem_limit: 4g\n',
    '    mem_limits: 4g\n',
    'ComposeValidationError: instancePath="/services/tailrace", schemaPath="#/additionalProperties", message="Validation error: must NOT have additional properties".',
  ],
  ['    read_only: true\n    restart', '    restart', 'tailrace: its files are to be read-only'],
  ['      - ALL\n', '      - CHOWN\n', 'tailrace: it is to have no capability'],
  [
    '      - no-new-privileges:true\n',
    '      - seccomp:unconfined\n',
    'tailrace: it is to gain no privilege',
  ],
  ['    mem_limit: 4g\n', '', 'tailrace: it is to have a bound of memory'],
  ['    logging:\n', '    x-logging:\n', 'tailrace: its log is to have a bound'],
  ['127.0.0.1:4000', '0.0.0.0:4000', 'tailrace: it is to be reached from this machine alone'],
  [
    'ENGINE_MEMORY_BYTES_MAX: "2147483648"',
    'ENGINE_MEMORY_BYTES_MAX: "2g"',
    expect.stringContaining('tailrace: TAILRACE_ENGINE_MEMORY_BYTES_MAX: must be'),
  ],
  [
    'TAILRACE_ENGINE_MEMORY_BYTES_MAX',
    'TAILRACE_MEMORY_MAX',
    'tailrace: TAILRACE_MEMORY_MAX is not a setting',
  ],
  [
    'TAILRACE_PRIVATE_KEY: ',
    'TAILRACE_PRIVATE_KEY: my-own-private-key-0123 #',
    'tailrace: TAILRACE_PRIVATE_KEY is to come from .env',
  ],
])('of the single one, “%s” as “%s” is told', async (right, wrong, fault) => {
  expect(text.single).toContain(right);
  expect(await findFaults(text.single.replace(right, wrong))).toContainEqual(fault);
});

test.each([
  ['clickhouse-server:26.3', 'clickhouse-server', expect.stringMatching(/clickhouse.* tag/i)],
  ['user: "999:999"', 'user: root', 'postgres: it is not to be root'],
  [
    '          ip_range: 172.31.250.128/25\n',
    '',
    'proxy: its address in inside is to be outside an ip_range',
  ],
  ['172.31.250.11\n', '172.31.250.140\n', 'tailrace-1: its address in inside is to be outside an ip_range'],
  [
    '    pull_policy: never\n',
    '    build: ..\n',
    expect.stringMatching(/^tailrace:\S+ is to be built once$/),
  ],
  [
    'condition: service_healthy',
    'condition: service_started',
    'tailrace-2: it is to wait until what it needs is healthy',
  ],
])('of the scaled one, “%s” as “%s” is told', async (right, wrong, fault) => {
  expect(text.scaled).toContain(right);
  expect(await findFaults(text.scaled.replace(right, wrong))).toContainEqual(fault);
});

describe('the scaled compose file', () => {
  const services = readScaled();

  test('refuses to start while a secret is empty, and .env.example names just these', async () => {
    const { all, required } = findVariables(text.scaled);
    const example = await readFile('deploy/.env.example', 'utf8');
    const named = [...example.matchAll(/^(\w+)=(.*)$/gm)];
    expect([...all].filter((name) => !required.has(name))).toEqual(['DEFINITIONS']);
    expect(named.map(([, name]) => name).toSorted()).toEqual([...required].toSorted());
    expect(named.map(([, , value]) => value).filter((value) => value !== '')).toEqual([]);
  });

  test('runs ClickHouse of the least version that Tailrace takes, or a later one', async () => {
    const [, year, month] = /clickhouse-server:(\d+)\.(\d+)$/.exec(services['clickhouse']?.image ?? '') ?? [];
    const [, least] = /a version below (\d+\.\d+)/.exec(await readFile('docs/scaling.md', 'utf8')) ?? [];
    const [leastYear, leastMonth] = (least ?? '').split('.');
    expect(Number(year) * 12 + Number(month)).toBeGreaterThanOrEqual(
      Number(leastYear) * 12 + Number(leastMonth),
    );
  });

  test('trusts the proxy’s own address and nobody else, and the proxy knows every replica', async () => {
    const addressOf = (name: string) => {
      const { networks = [] } = services[name] ?? {};
      return 'inside' in networks ? networks['inside']?.ipv4_address : undefined;
    };
    const replicas = Object.keys(services).filter((name) => isOurs(services[name] ?? {}));
    expect(replicas.length).toBeGreaterThanOrEqual(2);
    for (const name of replicas) {
      expect(services[name]?.environment?.['TAILRACE_TRUST_PROXY']).toBe(addressOf('proxy'));
      expect(addressOf(name)).toMatch(/^172\./);
    }
    const proxy = await readFile('deploy/nginx.conf', 'utf8');
    const known = [...proxy.matchAll(/^ {4}server ([\w-]+):4000 /gm)].map(([, name]) => name);
    expect(known.toSorted()).toEqual(replicas.toSorted());
    expect(Object.keys(services['proxy']?.depends_on ?? {}).toSorted()).toEqual(replicas.toSorted());
  });

  test('mounts files that exist', async () => {
    const mounted = Object.values(services).flatMap(({ volumes = [] }) => volumes);
    const short = mounted.filter((volume) => typeof volume === 'string');
    const files = short.map((volume) => volume.split(':')[0] ?? '').filter((path) => path.startsWith('./'));
    expect(files.length).toBeGreaterThanOrEqual(3);
    for (const file of files) expect((await stat(join('deploy', file))).isFile()).toBe(true);
  });
});

const fillDefinitions = (text: string) => text.replace(/\$\{DEFINITIONS:-(.*?)\}/, '$1');

test.each([
  ['single', SINGLE],
  ['scaled', SCALED],
])(
  'the %s compose file mounts the definitions that ship, or those of another folder, over those of the image',
  async (_name, file) => {
    const ours = Object.values(readServices(await readFile(file, 'utf8'))).filter(isOurs);
    expect(ours.length).toBeGreaterThan(0);
    for (const { volumes = [] } of ours) {
      const mounts = volumes.filter((volume) => typeof volume !== 'string');
      // Without the folder the start is to fail: an empty one would serve nothing.
      const kept = { type: 'bind', read_only: true, bind: { create_host_path: false } };
      expect(mounts).toEqual(
        ['endpoints', 'sources'].map((kind) => ({
          ...kept,
          source: `\${DEFINITIONS:-..}/${kind}`,
          target: `/app/${kind}`,
        })),
      );
      for (const { source } of mounts)
        expect((await stat(join('deploy', fillDefinitions(source)))).isDirectory()).toBe(true);
    }
  },
);

test('the image has the version of package.json in all', async () => {
  const { version } = JSON.parse(await readFile('package.json', 'utf8')) as { version: string };
  const images = Object.values(text).flatMap((one) => Object.values(readServices(one)));
  const ours = images.filter(isOurs).map(({ image }) => image);
  expect(new Set(ours)).toEqual(new Set([`tailrace:${version}`]));
});

describe('the overlay for Supabase', () => {
  const { analytics } = readServices(text.supabase);

  test('takes the place of the service that Studio and Vector know, on its port', () => {
    expect(Object.keys(readServices(text.supabase))).toEqual(['analytics']);
    expect(readImage(DOCKERFILE).env['TAILRACE_PORT']).toBe('4000');
    expect(analytics?.environment?.['TAILRACE_STUDIO']).toBe('1');
    expect(analytics?.environment?.['TAILRACE_DEFAULT_PROJECT']).toBe('default');
  });

  test('starts the image as the image does, with the keys of Supabase’s own .env', () => {
    const { entrypoint, command } = analytics ?? {};
    const [node, program, ...args] = readImage(DOCKERFILE).command;
    expect([entrypoint, command].flat()).toEqual([node, `/app/${program}`, ...args]);
    const keys = ['LOGFLARE_PRIVATE_ACCESS_TOKEN', 'LOGFLARE_PUBLIC_ACCESS_TOKEN'];
    expect([...findVariables(text.supabase).required].toSorted()).toEqual(keys);
  });

  test('checks its health by the curl of the image', () => {
    expect(JSON.stringify(analytics?.healthcheck)).toContain('"CMD","curl"');
    expect(DOCKERFILE).toMatch(/apt-get install -y --no-install-recommends curl/);
  });
});

describe('deploy/make-env.sh', () => {
  const script = 'make-env.sh';
  const env = join(folder.path, 'env', '.env');

  test('gives each secret a value of its own, in a file for its owner alone, and none that is there another', async () => {
    await mkdir(join(folder.path, 'env'));
    for (const file of [script, '.env.example'])
      await copyFile(join('deploy', file), join(folder.path, 'env', basename(file)));
    const run = () => exec('sh', [join(folder.path, 'env', script)]);
    await run();
    const written = await readFile(env, 'utf8');
    const values = [...written.matchAll(/^\w+=(.*)$/gm)].map(([, value = '']) => value);
    expect(values).toHaveLength(findVariables(text.scaled).required.size);
    expect(new Set(values).size).toBe(values.length);
    for (const value of values) expect(value).toMatch(/^[0-9a-f]{64}$/);
    expect((await stat(env)).mode & 0o777).toBe(0o600);

    await run();
    expect(await readFile(env, 'utf8')).toBe(written);
  });

  test('adds what is missing to a file that is there, such as that of a single service', async () => {
    await writeFile(env, 'POSTGRES_PASSWORD=\n# of mine\nTAILRACE_PRIVATE_KEY=of-mine');
    await exec('sh', [join(folder.path, 'env', script)]);
    const written = await readFile(env, 'utf8');
    const names = [...written.matchAll(/^(\w+)=.+$/gm)].map(([, name]) => name);
    expect(names.toSorted()).toEqual([...findVariables(text.scaled).required].toSorted());
    expect(written).toMatch(/^# of mine\nTAILRACE_PRIVATE_KEY=of-mine\n/);
    expect(written).not.toMatch(/=$/m);
  });
});
