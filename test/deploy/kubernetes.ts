import { execFile } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { symlink, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import * as apps from 'kubernetes-models/apps/v1';
import * as networking from 'kubernetes-models/networking.k8s.io/v1';
import * as policy from 'kubernetes-models/policy/v1';
import * as core from 'kubernetes-models/v1';
import { parseDocument } from 'yaml';

export const FOLDER = 'deploy/kubernetes';

/** One object of the manifests, as YAML has it. */
export interface Manifest {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: { readonly name: string };
  readonly [other: string]: unknown;
}

/** Text of every manifest of a folder, by its path from the repository; not the kustomizations, which have another schema. */
export function readManifests(folder: string): Map<string, string> {
  const names = readdirSync(join(FOLDER, folder)).filter((name) => name.endsWith('.yaml'));
  const paths = names
    .filter((name) => name !== 'kustomization.yaml')
    .map((name) => join(FOLDER, folder, name));
  return new Map(paths.map((path) => [path, readFileSync(path, 'utf8')]));
}

export function parseManifest(text: string): Manifest {
  const document = parseDocument(text);
  if (document.errors.length > 0) throw new Error(document.errors.map(({ message }) => message).join('\n'));
  return document.toJS() as Manifest;
}

const MODULES: Readonly<Record<string, object>> = {
  v1: core,
  'apps/v1': apps,
  'networking.k8s.io/v1': networking,
  'policy/v1': policy,
};

type Model = new (data: Manifest) => { validate(): void };

/** What Kubernetes' own schema says of values that are missing or of another kind. */
export function findSchemaFault(manifest: Manifest): string | undefined {
  const found = Object.entries(MODULES[manifest.apiVersion] ?? {}).find(([kind]) => kind === manifest.kind);
  if (found === undefined) return `there is no ${manifest.apiVersion} ${manifest.kind}`;
  const KnownModel: Model = found[1];
  try {
    new KnownModel(manifest).validate();
    return undefined;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

/**
 * Names that Kubernetes does not know, which its schema lets pass: TypeScript tells them, by the types that were made from the
 * same schema. One run of the compiler for all.
 *
 * @param folder an empty folder of the test
 * @returns what is wrong, by the names of `manifests`
 */
export async function findUnknownNames(
  folder: string,
  manifests: ReadonlyMap<string, Manifest>,
): Promise<Map<string, string>> {
  await symlink(resolve('node_modules'), join(folder, 'node_modules'));
  await writeFile(join(folder, 'package.json'), '{"type":"module"}');
  const files = [...manifests].map(([name, manifest], i) => ({ name, manifest, file: `manifest-${i}.ts` }));
  for (const { manifest, file } of files) {
    const module = `kubernetes-models/${manifest.apiVersion}`;
    const text = `import type { I${manifest.kind} } from '${module}';\nexport const one: I${manifest.kind} = ${JSON.stringify(manifest, undefined, 1)};\n`;
    await writeFile(join(folder, file), text);
  }
  const options = '--noEmit --strict --skipLibCheck --module nodenext --target es2024 --pretty false'.split(
    ' ',
  );
  const tsc = resolve('node_modules/.bin/tsc');
  const names = files.map(({ file }) => file);
  const output = await new Promise<string>((done) => {
    execFile(tsc, [...options, ...names], { cwd: folder }, (_error, stdout) => done(stdout));
  });
  const told = output.split('\n').flatMap((line) => {
    const [, file, fault = ''] = /^(manifest-\d+\.ts)\(.*?\): error TS\d+: (.*)$/.exec(line) ?? [];
    return files.filter((one) => one.file === file).map(({ name }) => [name, fault] as const);
  });
  return new Map(told);
}
