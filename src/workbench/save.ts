import { cp, mkdir, rename, rm } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { type Static, Type } from 'typebox';
import { ENDPOINT_NAME } from '../definitions/endpoint.ts';
import {
  type Copies,
  findCopies,
  isShippedDashboards,
  needsCopy,
  type ReadFolders,
} from '../definitions/folders.ts';
import { InputError, TailraceError } from '../errors.ts';
import { type AuditEntry, actorOf } from '../keys/audit.ts';
import type { Caller } from '../keys/keyring.ts';
import { findBelow } from '../lib/file.ts';
import { closed } from '../lib/schema.ts';
import type { SavedEndpoint } from '../management/workbench-view.ts';
import { type ExecutionOptions, getEndpoint } from './check.ts';
import { complete, DRAFT, findLong, rejectDraft, VERSION, YAML_FILE } from './draft.ts';
import {
  endpointPaths,
  type ReadVersion,
  rejectConflict,
  rejectLinks,
  replaceFiles,
  TEST_FILE,
  toSaveError,
  versionOf,
  writeEndpoint,
} from './files.ts';
import { inFolder, rejectIfOff, type WorkbenchParts } from './workbench.ts';

/** Runs `work` while no reload reads the definitions. It may have them reloaded; a rejected reload throws an InputError. */
type EditDefinitions = <T>(work: (reload: () => Promise<void>) => Promise<T>) => Promise<T>;

/** Runs the tests of one endpoint within a bound of time. @throws the caller's reason to abort */
export type TestRun = (name: string, execution: ExecutionOptions) => Promise<SavedEndpoint['tests']>;

export type SavedEntry = Omit<AuditEntry, 'atMs' | 'count'>;

export interface SaveParts extends WorkbenchParts {
  readonly edit: EditDefinitions;
  readonly runTests: TestRun;
  readonly audit: (entry: SavedEntry) => Promise<void>;
  readonly newId: () => string;
}

/** `test`: a file of tests for a new endpoint. */
export const NEW_VERSION = closed({
  ...{ name: ENDPOINT_NAME, ...DRAFT.properties, version: VERSION },
  test: Type.Optional(Type.String()),
});
type NewVersion = Static<typeof NEW_VERSION>;

/** Returns a function that saves one endpoint after another. */
export function createSave(parts: SaveParts) {
  /** @throws as `getEndpoint`; TailraceError `forbidden`, `conflict`, `invalid_definition`: then nothing has changed */
  return async (request: NewVersion, caller: Caller, execution: ExecutionOptions): Promise<SavedEndpoint> => {
    rejectIfOff('endpoints', parts);
    const { test, version: read } = request;
    const served = parts.registry.endpoints;
    const identity = { file: YAML_FILE, name: request.name, newId: parts.newId, served };
    const texts = { definition: complete(request.definition, identity), sql: request.sql };
    const { endpoint } = await getEndpoint(parts, texts, execution);
    if (endpoint.columns.length === 0) rejectDraft([{ file: YAML_FILE, line: 1, message: NO_COLUMNS }]);
    if (test !== undefined && read !== null) throw new TailraceError('invalid_request', OLD_TEST);
    rejectDraft(findLong(TEST_FILE, test ?? ''));
    const { name } = endpoint; // the text's name, as it will be read again
    const version = await writeServed(parts, {
      ...{ noun: 'endpoint', name, version: read, texts: [texts.definition, texts.sql], test },
      place() {
        rejectIfOff('endpoints', parts);
        const known = parts.registry.endpoints.find((one) => one.name === name);
        const base = known === undefined ? name : basename(dirname(known.file));
        return { dir: parts.folders().endpointsDir, base };
      },
    });
    await auditSaved(parts, caller, `${name} ${version}`);
    return { name, version, tests: await parts.runTests(name, execution) };
  };
}

const NO_COLUMNS = '"columns" is missing: a saved endpoint declares the columns that its query returns';
const OLD_TEST = '"test" is saved only with a new endpoint, whose version is null; edit the files in tests/';

export function auditSaved({ audit }: Pick<SaveParts, 'audit'>, caller: Caller, detail: string) {
  return audit({ action: 'saved', keyId: '', ...actorOf(caller), detail });
}

interface Written extends ReadVersion {
  /** The text of its file, or those of both files of an endpoint. */
  readonly texts: readonly string[];
  readonly test?: string | undefined;
  /** Returns its folder and the name of its file or folder there. A reload may have changed both. */
  readonly place: () => { readonly dir: string; readonly base: string };
}

/**
 * Writes a definition and has it served with all others.
 * @returns its version
 * @throws TailraceError `forbidden`, `conflict`, `invalid_definition`: then nothing has changed
 */
export function writeServed(
  parts: Pick<SaveParts, 'edit' | 'folders'>,
  { place, texts, test, ...read }: Written,
): Promise<string> {
  return parts.edit(async (reload) => {
    try {
      const { dir, base } = place();
      await mkdir(dir, { recursive: true });
      const path = await findBelow(dir, base);
      const isEndpoint = texts.length > 1;
      const paths = isEndpoint ? endpointPaths(path) : [path];
      await rejectLinks(read.name, paths, isEndpoint ? path : undefined);
      await rejectConflict(read, paths);
      const files = paths.map((file, i) => [file, texts[i] ?? ''] as const);
      const takeBack = await (isEndpoint ? writeEndpoint(path, files, { test }) : replaceFiles(files));
      await reload().catch(async (error: unknown) => {
        await takeBack();
        throw toReloadError(error, parts);
      });
      return versionOf(texts);
    } catch (error) {
      throw toSaveError(error, read.name);
    }
  });
}

/** The error of a rejected reload. The definition passed its checks, so the fault is between several, or another's. */
function toReloadError(error: unknown, parts: Pick<SaveParts, 'folders'>): unknown {
  if (!(error instanceof InputError)) return error;
  const faults = inFolder(error.faults.join('; '), parts);
  const message = `the definitions were rejected together, and nothing was saved: ${faults}`;
  return new TailraceError('invalid_definition', message, {
    errors: [{ parameter: 'definition', message }],
    cause: error,
  });
}

interface CopyParts {
  readonly edit: EditDefinitions;
  readonly folders: () => ReadFolders;
  /** Called once the copy is served. */
  readonly onCopied: (dir: string) => void;
}

/** Returns an `edit` that copies the shipped definitions first, if they are served, and has the copy served. */
export function editCopies({ edit, folders, onCopied }: CopyParts): EditDefinitions {
  return (work) =>
    edit(async (reload) => {
      const read = folders();
      const copies = findCopies(read);
      if (copies !== undefined && needsCopy(read)) {
        await copyShipped(read, copies);
        await reload();
        onCopied(copies.dir);
      }
      return await work(reload);
    });
}

/** The copy appears whole: a crash leaves none, and the next save tries again. */
async function copyShipped({ endpointsDir, dashboardsDir }: ReadFolders, { dir }: Copies): Promise<void> {
  const next = `${dir}.new`;
  try {
    await rm(next, { recursive: true, force: true });
    await mkdir(join(next, 'dashboards'), { recursive: true });
    await cp(endpointsDir, join(next, 'endpoints'), { recursive: true });
    if (dashboardsDir !== undefined && isShippedDashboards(dashboardsDir))
      await cp(dashboardsDir, join(next, 'dashboards'), { recursive: true });
    await rename(next, dir);
  } catch (error) {
    throw toSaveError(error, 'definitions');
  }
}
