import { readFileSync } from 'node:fs';
import { BlockList } from 'node:net';
import { parse } from 'yaml';

/** A folder of the machine, in the long form. */
export interface Mount {
  readonly type: string;
  readonly source: string;
  readonly target: string;
  readonly read_only?: boolean;
  readonly bind?: { readonly create_host_path?: boolean };
}

export interface Service {
  readonly image?: string;
  readonly build?: string | object;
  readonly user?: string;
  readonly environment?: Readonly<Record<string, string>>;
  readonly depends_on?: Readonly<Record<string, { readonly condition: string }>>;
  readonly healthcheck?: object;
  readonly volumes?: readonly (string | Mount)[];
  readonly networks?: Readonly<Record<string, { readonly ipv4_address?: string } | null>> | readonly string[];
  readonly ports?: readonly string[];
  readonly cap_drop?: readonly string[];
  readonly security_opt?: readonly string[];
  readonly read_only?: boolean;
  readonly mem_limit?: string;
  readonly [other: string]: unknown;
}

/** The services of a compose file, with what `<<` brings in. */
export function readServices(text: string): Readonly<Record<string, Service>> {
  return (parse(text, { merge: true }) as { services: Record<string, Service> }).services;
}

/** Whether it runs Tailrace: the image, which one of the services builds, or a project's own. */
export const isOurs = ({ image = '', build }: Service) =>
  image.startsWith('tailrace:') || build !== undefined;

interface Network {
  readonly ipam?: { readonly config?: readonly { readonly ip_range?: string }[] };
}

/** Of each network the addresses that are given to services without one of their own; `undefined`: any. */
export function readDynamicRanges(text: string): ReadonlyMap<string, BlockList | undefined> {
  const { networks = {} } = parse(text) as { networks?: Record<string, Network | null> };
  return new Map(
    Object.entries(networks).map(([name, network]) => {
      const [address, prefix] = network?.ipam?.config?.[0]?.ip_range?.split('/') ?? [];
      if (address === undefined) return [name, undefined];
      const range = new BlockList();
      range.addSubnet(address, Number(prefix));
      return [name, range];
    }),
  );
}

export const SINGLE = 'deploy/compose.yaml';
/** Of projects that `tailrace init` creates. */
export const PROJECT = 'template/compose.yaml';
export const SCALED = 'deploy/compose.scaled.yaml';
/** An overlay of another project's file. */
export const SUPABASE = 'deploy/compose.supabase.yaml';

export const readScaled = () => readServices(readFileSync(SCALED, 'utf8'));

const VARIABLE = /\$\{(\w+)(?::([?-])[^}]*)?\}/g;

/** Puts values in for `${NAME}` as compose does, with the defaults of those that have one. */
export function fillIn(env: Readonly<Record<string, string>>, values: Readonly<Record<string, string>>) {
  const fill = (text: string) => text.replace(VARIABLE, (_all, name: string) => values[name] ?? '');
  return Object.fromEntries(Object.entries(env).map(([name, text]) => [name, fill(text)]));
}

/** Names of a text's variables; of `required`, those that compose refuses to be empty. */
export function findVariables(text: string): { all: Set<string>; required: Set<string> } {
  // `$$` is a dollar of the container's own shell.
  const found = [...text.replaceAll('$$', '').matchAll(VARIABLE)];
  return {
    all: new Set(found.map(([, name = '']) => name)),
    required: new Set(found.filter(([, , kind]) => kind === '?').map(([, name = '']) => name)),
  };
}
