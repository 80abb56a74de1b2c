import { globSync, readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { findUnknownSettings, parseConfig } from '../../src/config/config.ts';
import type { Setting } from '../../src/config/setting.ts';
import { SETTINGS } from '../../src/config/settings.ts';
import { readDefinitions } from '../../src/definitions/read.ts';
import { faultsOf } from '../support/faults.ts';

// What no tool checks. The rest of deploy/ is for the nightly run: docker compose, kubectl, systemd-analyze and promtool read it.

type Environment = Readonly<Record<string, string>>;

interface Service {
  readonly image?: string;
  readonly build?: string | object;
  readonly environment?: Environment;
  readonly networks?: Readonly<Record<string, { readonly ipv4_address?: string }>>;
}

const read = (path: string) => readFileSync(path, 'utf8');
const SCALED = 'deploy/compose.scaled.yaml';
const COMPOSE_FILES = [...globSync('deploy/compose*.yaml'), 'template/compose.yaml'];

function readServices(path: string): [name: string, service: Service][] {
  const { services } = parse(read(path), { merge: true }) as { services: Record<string, Service> };
  return Object.entries(services);
}

/** Whether a service runs Tailrace: its image, or one that is built. */
const isOurs = ({ image = '', build }: Service) => image.startsWith('tailrace:') || build !== undefined;

const VARIABLE = /\$\{(\w+)(?::([?-])[^}]*)?\}/g;

/** The settings of the lines `NAME=value`, or of `pattern`. */
function readLines(path: string, pattern = /^(\w+)=(.*)$/gm): Environment {
  return Object.fromEntries([...read(path).matchAll(pattern)].map(([, name, value]) => [name, value]));
}

/** What Tailrace would report of an environment at its start, with a value for each `${NAME}`. */
function findFaults(environment: Environment): string[] {
  const filled = Object.entries(environment).map(([name, text]) => [
    name,
    text.replaceAll(
      VARIABLE,
      (_, variable: string) => `${variable.toLowerCase()}-0123456789abcdef0123456789abcdef`,
    ),
  ]);
  const env = Object.fromEntries(filled) as Environment;
  return [...findUnknownSettings(env), ...faultsOf(env)];
}

const ENVIRONMENTS: readonly [string, Environment][] = [
  ...COMPOSE_FILES.flatMap((path) =>
    readServices(path)
      .filter(([, service]) => isOurs(service) || service.environment?.['TAILRACE_STUDIO'] !== undefined)
      .map(([name, { environment = {} }]): [string, Environment] => [`${name} of ${path}`, environment]),
  ),
  ['deploy/systemd', readLines('deploy/systemd/tailrace.service', /^Environment=(\w+)=(.*)$/gm)],
  ['the Dockerfile', readLines('Dockerfile', /\b(TAILRACE_\w+)=(\S+)/g)],
  ...globSync('deploy/kubernetes/*/settings.env').map((path): [string, Environment] => [
    path,
    readLines(path),
  ]),
];

test.each(ENVIRONMENTS)('%s sets only settings that exist, to values that they accept', (_, environment) => {
  expect(Object.keys(environment)).not.toEqual([]);
  expect(findFaults(environment)).toEqual([]);
});

test.each(globSync('deploy/kubernetes/*/secrets.env.example'))(
  '%s names only settings, without a secret',
  (path) => {
    const named = readLines(path);
    expect(findUnknownSettings(named)).toEqual([]);
    for (const { env, secret } of Object.values<Setting<unknown>>(SETTINGS))
      if (secret) expect(named[env] ?? '').toBe('');
  },
);

test('no compose file holds a secret: each comes from .env', () => {
  for (const [, environment] of ENVIRONMENTS)
    for (const { env, aliases, secret } of Object.values<Setting<unknown>>(SETTINGS))
      for (const name of secret && env !== 'CLICKHOUSE_URL' ? [env, ...aliases] : [])
        expect(environment[name] ?? '${').toContain('${');
});

describe('the scaled compose file', () => {
  const services = new Map(readServices(SCALED));
  const replicas = [...services].filter(([, service]) => isOurs(service));
  const addressOf = (name: string) => services.get(name)?.networks?.['inside']?.ipv4_address;

  test('does not start while a secret is empty, and .env.example names just these', () => {
    const found = [...read(SCALED).replaceAll('$$', '').matchAll(VARIABLE)];
    const required = new Set(found.filter(([, , kind]) => kind === '?').map(([, name]) => name));
    const all = new Set(found.map(([, name]) => name));
    expect([...all].filter((name) => !required.has(name))).toEqual(['DEFINITIONS']);
    expect(new Set(Object.keys(readLines('deploy/.env.example')))).toEqual(required);
  });

  test('trusts only the address of its proxy, which knows every replica', () => {
    expect(replicas.length).toBeGreaterThanOrEqual(2);
    for (const [name, { environment }] of replicas) {
      expect(environment?.['TAILRACE_TRUST_PROXY']).toBe(addressOf('proxy'));
      expect(addressOf(name)).toMatch(/^172\./);
    }
    const known = [...read('deploy/nginx.conf').matchAll(/^ {4}server ([\w-]+):4000 /gm)].map(
      ([, name]) => name,
    );
    expect(known.toSorted()).toEqual(replicas.map(([name]) => name).toSorted());
  });
});

test('every image of Tailrace has the version of package.json', () => {
  const { version } = JSON.parse(read('package.json')) as { version: string };
  const texts = globSync('deploy/{compose*,kubernetes/*/*}.yaml').map(read).join('\n');
  const versions = [...texts.matchAll(/image: tailrace:(\S+)|newTag: "?([\w.-]+)/g)].map(
    ([, a, b]) => a ?? b,
  );
  expect(new Set(versions)).toEqual(new Set([version]));
});

describe('the users of ClickHouse in users.xml', () => {
  const [xml, sql] = [read('deploy/clickhouse/users.xml'), read('deploy/clickhouse/users.sql')];
  const plain = (text = '') => text.replaceAll(/\s+/g, ' ').trim();
  const sectionOf = (name: string, within: string) =>
    new RegExp(`<${within}>[\\s\\S]*?<${name}>([\\s\\S]*?)</${name}>`).exec(xml)?.[1] ?? '';

  test.each(['tailrace', 'tailrace_reader', 'tailrace_sandbox'])('%s has the rights of users.sql', (name) => {
    const granted = [...sql.matchAll(new RegExp(`^(GRANT .*) TO ${name};`, 'gm'))].map(([, grant]) => grant);
    const own = sectionOf(name, 'users').matchAll(/<query>(.*)<\/query>/g);
    expect([...own].map(([, grant]) => grant).toSorted()).toEqual(granted.toSorted());
    expect(granted.length).toBeGreaterThan(0);
  });

  test.each(['tailrace_reader', 'tailrace_sandbox'])('%s has the bounds of users.sql', (name) => {
    const [, list = ''] = new RegExp(`CREATE SETTINGS PROFILE ${name} SETTINGS\\s([^;]*);`).exec(sql) ?? [];
    const stated = list.split(',').map((one) => plain(one).replace('= false', '= 0'));
    const [values = '', constraints = ''] = sectionOf(name, 'profiles').split('<constraints>');
    const bounds = new Map(
      [...constraints.matchAll(/<(\w+)>(<.*>)<\/\1>/g)].map(([, setting, bound = '']) => [
        setting,
        plain(
          bound
            .replace(/<max>(\d+)<\/max>/, ' MAX $1')
            .replace('<const/>', ' CONST')
            .replace('<changeable_in_readonly/>', ' CHANGEABLE_IN_READONLY'),
        ),
      ]),
    );
    const set = new Map(
      [...values.matchAll(/<(\w+)>(\d+)</g)].map(([, setting, value]) => [setting, `= ${value}`]),
    );
    const all = new Set([...set.keys(), ...bounds.keys()]);
    const own = [...all].map((setting) => plain([setting, set.get(setting), bounds.get(setting)].join(' ')));
    expect(own.toSorted()).toEqual(stated.toSorted());
  });

  test('that runs callers’ SELECTs sees only rows of the named project, in the table of every source', async () => {
    const { definitions } = await readDefinitions(parseConfig({ TAILRACE_DATA_DIR: '/nowhere' }));
    const found = sectionOf('tailrace_sandbox', 'users').matchAll(/<(\w+)><filter>(.*?)<\/filter>/g);
    const filters = new Map([...found].map(([, table, filter]) => [table, plain(filter)]));
    expect([...filters.keys()].toSorted()).toEqual(definitions.sources.map(({ table }) => table).toSorted());
    const [, policy] = /^ {2}USING (NOT[\s\S]*?)\n {2}TO /m.exec(sql) ?? [];
    expect(new Set(filters.values())).toEqual(new Set([plain(policy)]));
  });
});
