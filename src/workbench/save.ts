import { basename, dirname, join, sep } from 'node:path';
import type { Fault } from '../definitions/fault.ts';
import { keepFolders } from '../definitions/folders.ts';
import { readDefinitions } from '../definitions/read.ts';
import { InputError, TailraceError } from '../errors.ts';
import type { AuditEntry } from '../keys/audit-entry.ts';
import type { Caller } from '../keys/keyring.ts';
import { findBelow } from '../lib/below.ts';
import { createSlots } from '../lib/slots.ts';
import type { SavedEndpoint } from '../management/view.ts';
import type { ExecutionOptions } from './author-engine.ts';
import { getEndpoint } from './check.ts';
import { type DraftTexts, refuseDraft, SQL_FILE, YAML_FILE } from './draft.ts';
import { describeChange, readTexts, refuseLinks, toSaveError, versionOf, writeTexts } from './files.ts';
import { complete } from './identity.ts';
import { findEditRefusal, type WorkbenchParts } from './workbench.ts';

/** Runs `work` while no reload reads the definitions. It may have them reloaded; a rejected reload throws an InputError. */
export type EditDefinitions = <T>(work: (reload: () => Promise<void>) => Promise<T>) => Promise<T>;

/** Runs the tests of one endpoint, as its files are now. @throws InputError for faults of test files; the signal's reason */
export type RunTests = (name: string, signal: AbortSignal) => Promise<SavedEndpoint['tests']>;

export type SavedEntry = Omit<AuditEntry, 'atMs' | 'count'>;

export interface SaveParts extends WorkbenchParts {
  readonly edit: EditDefinitions;
  readonly runTests: RunTests;
  readonly audit: (entry: SavedEntry) => Promise<void>;
  readonly newId: () => string;
}

export interface SaveRequest extends DraftTexts {
  readonly name: string;
  /** The version of the texts that were read before; null: there is no such endpoint yet. */
  readonly version: string | null;
}

/** Returns a function that saves one endpoint after another, and runs the tests of one at a time. */
export function createSave(parts: SaveParts) {
  const acquireTests = createSlots(1);

  /** @throws as `getEndpoint`; TailraceError `forbidden`, `conflict`, `invalid_definition`: then nothing has changed */
  return async (
    request: SaveRequest,
    caller: Caller,
    execution: ExecutionOptions,
  ): Promise<SavedEndpoint> => {
    refuseIfOff(parts);
    const known = parts.registry.endpoints.find(({ name }) => name === request.name);
    const texts = complete(request, {
      name: request.name,
      id: known?.id,
      newId: parts.newId,
      nameOf: (id) => parts.registry.findEndpoint(id)?.name,
    });
    const { endpoint } = await getEndpoint(parts, texts, execution);
    if (endpoint.columns.length === 0) refuseDraft([NO_COLUMNS]);
    const { name } = endpoint; // the text's name, as it will be read again
    const saved = { ...texts, name, version: request.version };
    const version = await parts.edit((reload) => saveFiles(parts, saved, reload));
    const detail = `${name} ${version}`;
    await parts.audit({ action: 'saved', keyId: '', actor: caller.keyId, detail });
    return { name, version, tests: await runTests(name, execution) };
  };

  async function runTests(name: string, { signal }: ExecutionOptions): Promise<SavedEndpoint['tests']> {
    const late = AbortSignal.timeout(TESTS_MS_MAX);
    const until = signal === undefined ? late : AbortSignal.any([signal, late]);
    try {
      const slot = await acquireTests(until);
      return await parts.runTests(name, until).finally(slot.release);
    } catch (error) {
      signal?.throwIfAborted();
      const message = inFolder(describeTestFailure(error, late), parts);
      return [{ name: 'tests', passed: false, message }];
    }
  }
}

const TESTS_MS_MAX = 60_000;

const NO_COLUMNS: Fault = {
  file: YAML_FILE,
  line: 1,
  message: '"columns" is missing: a saved endpoint declares the columns that its query returns',
};

function describeTestFailure(error: unknown, late: AbortSignal): string {
  if (error instanceof InputError) return error.faults.join('\n');
  if (late.aborted) return `the tests did not end within ${TESTS_MS_MAX / 1000} s and were stopped`;
  return 'the tests could not be run; the endpoint is saved, and "tailrace test" runs them';
}

function refuseIfOff(parts: SaveParts): void {
  const refusal = findEditRefusal(parts);
  if (refusal !== undefined) throw new TailraceError('forbidden', refusal);
}

/** Checks the texts among all definitions, writes them, and has them served. @returns their version */
async function saveFiles(
  parts: SaveParts,
  request: SaveRequest,
  reload: () => Promise<void>,
): Promise<string> {
  refuseIfOff(parts); // a reload may have changed the folders
  const { name, version, definition, sql } = request;
  const texts = { definition, sql };
  const known = parts.registry.endpoints.find((one) => one.name === name);
  const folderName = known === undefined ? name : basename(dirname(known.file));
  try {
    const folder = await findBelow(parts.folders().endpointsDir, folderName);
    await refuseLinks(folder);
    refuseConflict(name, version, await readTexts(folder));
    await checkAmongOthers(parts, folder, texts);
    const takeBack = await writeTexts(folder, texts);
    await reload().catch(async (error: unknown) => {
      await takeBack();
      throw toReloadError(error, parts);
    });
  } catch (error) {
    throw toSaveError(error, name);
  }
  return versionOf(texts);
}

/** @throws TailraceError `conflict` if the files are not those that the caller has read */
function refuseConflict(name: string, version: string | null, now: DraftTexts | undefined): void {
  if (now === undefined && version === null) return;
  if (now !== undefined && version === versionOf(now)) return;
  const what =
    now === undefined
      ? `${name} was removed since it was read; save it as a new endpoint`
      : version === null
        ? `there is an endpoint ${name} already; open it, or choose another name`
        : `${describeChange(now, version)} since ${name} was read; read it again and repeat the change`;
  throw new TailraceError('conflict', what);
}

/** @throws TailraceError `invalid_definition`; `conflict` if other definitions have faults, so that none could be loaded */
async function checkAmongOthers({ folders }: SaveParts, folder: string, texts: DraftTexts): Promise<void> {
  const yaml = join(folder, YAML_FILE);
  const sql = join(folder, SQL_FILE);
  const unsaved = new Map([
    [yaml, texts.definition],
    [sql, texts.sql],
  ]);
  const { faults } = await readDefinitions(keepFolders(folders()), unsaved);
  const own = faults.filter(({ file }) => file === yaml || file === sql);
  refuseDraft(own.map((fault) => ({ ...fault, file: basename(fault.file) })));
  const [other] = faults.toSorted((a, b) => a.file.localeCompare(b.file));
  if (other === undefined) return;
  const place = `${basename(dirname(other.file))}/${basename(other.file)}:${other.line}`;
  const message = `nothing can be saved while another definition has faults: ${place}: ${other.message}`;
  throw new TailraceError('conflict', inFolder(message, { folders }));
}

/** Removes paths of this machine; those in the folder of endpoints begin there. */
function inFolder(message: string, { folders }: Pick<SaveParts, 'folders'>): string {
  return message.replaceAll(join(folders().endpointsDir, sep), '');
}

/** The error of a rejected reload. The checks before have passed, so another file has changed meanwhile, or a source. */
function toReloadError(error: unknown, parts: SaveParts): unknown {
  if (!(error instanceof InputError)) return error;
  const faults = inFolder(error.faults.join('; '), parts);
  const message = `the definitions were rejected together, and nothing was saved: ${faults}`;
  return new TailraceError('invalid_definition', message, {
    errors: [{ parameter: 'definition', message }],
    cause: error,
  });
}
