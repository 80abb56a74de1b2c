import { lstat, mkdir } from 'node:fs/promises';
import { basename } from 'node:path';
import type { Config } from '../config/config.ts';
import { checkDashboard, createDashboard, type Dashboard } from '../definitions/dashboard.ts';
import {
  findDashboardTarget,
  findSearchesDir,
  OWN_DASHBOARDS_DIR,
  type ReadFolders,
} from '../definitions/folders.ts';
import { getNamed, type Registry } from '../definitions/registry.ts';
import { checkSavedSearch, createSavedSearch } from '../definitions/saved-search.ts';
import type { YamlFile } from '../definitions/yaml-file.ts';
import { type Fault, TailraceError } from '../errors.ts';
import { actorOf } from '../keys/audit.ts';
import type { Caller } from '../keys/keyring.ts';
import { findBelow, OutsideError } from '../lib/file.ts';
import type { DashboardCheck } from '../management/dashboard-view.ts';
import { toDashboardView } from '../management/dashboards.ts';
import { verifySavedSearches } from '../search/verify.ts';
import { findMissing, verifyDashboards } from '../verify/dashboards.ts';
import { complete, findLong, parseDefinition, rejectDraft, toDraftError, withId } from './draft.ts';
import { readIfThere, rejectConflict, replaceFiles, toSaveError, versionOf } from './files.ts';
import { type SaveParts, toReloadError } from './save.ts';
import { findDashboardRefusal, findOff } from './workbench.ts';

/** A kind of definition that is one file, such as an alert. */
export interface FileKind {
  readonly noun: string;
  /** The name of a file in messages. */
  readonly file: string;
  /** The served ones. */
  readonly known: () => readonly { readonly id: string; readonly name: string; readonly file: string }[];
  readonly dirOf: (folders: ReadFolders) => string;
  readonly check: (definition: string) => readonly Fault[];
  /** Why none can be saved here; `undefined` if they can. */
  readonly refusal: () => string | undefined;
}

export type SaveFileParts = Pick<SaveParts, 'folders' | 'edit' | 'audit' | 'newId'>;

export interface SaveFileRequest {
  readonly name: string;
  readonly definition: string;
  /** The version of the text that was read before; null: there is no such definition yet. */
  readonly version: string | null;
}

interface FileText {
  readonly name: string;
  readonly definition: string;
  readonly version: string;
  readonly may_edit: boolean;
}

/** Reads the present file of a definition, which may be newer than the served one. @throws TailraceError `not_found` */
export async function readDefinitionFile(
  { refusal }: Pick<FileKind, 'refusal'>,
  { name, file }: { readonly name: string; readonly file: string },
): Promise<FileText> {
  const definition = await readIfThere(file);
  if (definition === undefined)
    throw new TailraceError('not_found', `the file of ${name} was removed since it was loaded`);
  return { name, definition, version: versionOf({ definition }), may_edit: refusal() === undefined };
}

/**
 * Writes the file of a definition and has it served.
 *
 * @throws TailraceError `forbidden`, `conflict`, `invalid_definition`: then nothing has changed
 */
export async function saveDefinitionFile(
  parts: SaveFileParts,
  { kind, ...request }: SaveFileRequest & { readonly kind: FileKind },
  caller: Pick<Caller, 'keyId' | 'person' | 'address'>,
): Promise<{ name: string; version: string }> {
  const { name } = request;
  const refusal = kind.refusal();
  if (refusal !== undefined) throw new TailraceError('forbidden', refusal);
  const definition = complete(request.definition, {
    ...{ file: kind.file, name, newId: parts.newId },
    id: kind.known().find((one) => one.name === name)?.id,
    nameOf: (id) => kind.known().find((one) => one.id === id.toLowerCase())?.name,
  });
  const added = countLines(definition) - countLines(request.definition);
  rejectDraft(kind.check(definition).map((fault) => ({ ...fault, line: Math.max(1, fault.line - added) })));
  await parts.edit((reload) => saveFile(parts, { ...request, definition, kind }, reload));
  const version = versionOf({ definition });
  const detail = `${kind.noun} ${name} ${version}`;
  await parts.audit({ action: 'saved', keyId: '', ...actorOf(caller), detail });
  return { name, version };
}

const countLines = (text: string) => text.split('\n').length;

async function saveFile(
  parts: SaveFileParts,
  { kind, name, definition, version }: SaveFileRequest & { readonly kind: FileKind },
  reload: () => Promise<void>,
): Promise<void> {
  const known = kind.known().find((one) => one.name === name);
  const dir = kind.dirOf(parts.folders());
  try {
    await mkdir(dir, { recursive: true });
    const path = await findBelow(dir, known === undefined ? `${name}.yaml` : basename(known.file));
    if ((await lstat(path).catch(() => undefined))?.isFile() === false) throw linked(name);
    const before = await readIfThere(path);
    rejectConflict(
      { noun: kind.noun, name, version },
      before === undefined ? undefined : { definition: before },
    );
    const takeBack = await replaceFiles([[path, definition]]);
    await reload().catch(async (error: unknown) => {
      await takeBack();
      throw toReloadError(error, parts);
    });
  } catch (error) {
    throw error instanceof OutsideError ? linked(name, error) : toSaveError(error, name);
  }
}

function linked(name: string, cause?: unknown): TailraceError {
  const message = `the file of ${name} is a link or a folder; edit it where it is`;
  return new TailraceError('forbidden', message, { cause });
}

/** Checks the text of a definition as its file is checked. It may lack `id`. */
function checkText(
  file: string,
  definition: string,
  check: (yaml: YamlFile) => readonly Fault[],
): readonly Fault[] {
  const long = findLong(file, definition);
  if (long.length > 0) return long;
  const parsed = parseDefinition(definition, file);
  return Array.isArray(parsed) ? parsed : check(withId(parsed));
}

const DASHBOARD_FILE = 'dashboard.yaml';

export interface SaveDashboardParts extends SaveFileParts {
  readonly config: Pick<Config, 'editEndpoints'>;
  readonly registry: Pick<Registry, 'endpoints' | 'dashboards' | 'getDashboard' | 'findEndpoint'>;
}

function dashboardKind(parts: SaveDashboardParts): FileKind {
  return {
    ...{
      noun: 'dashboard',
      file: DASHBOARD_FILE,
      known: () => parts.registry.dashboards,
    },
    dirOf: (read) => findDashboardTarget(read) ?? OWN_DASHBOARDS_DIR, // without one the save has been rejected before
    check: (definition) => check(parts, definition),
    refusal: () => findDashboardRefusal(parts),
  };
}

/** Checks the text of a dashboard as files are checked, and that each endpoint exists. It may lack `id`. */
export function checkDashboardDraft(
  parts: SaveDashboardParts,
  definition: string,
  caller: Caller,
): DashboardCheck {
  const read: Dashboard[] = [];
  const faults = check(parts, definition, (dashboard) => read.push(dashboard));
  const [dashboard] = read;
  return {
    errors: faults.map(toDraftError),
    dashboard: dashboard === undefined ? null : toDashboardView(parts, caller, dashboard),
  };
}

/** @param onRead gets the dashboard if it can be read */
function check(
  { registry: { endpoints } }: SaveDashboardParts,
  definition: string,
  onRead?: (dashboard: Dashboard) => void,
): readonly Fault[] {
  return checkText(DASHBOARD_FILE, definition, (file) => {
    const faults = checkDashboard(file);
    if (faults.length > 0) return faults;
    const dashboard = createDashboard(file);
    onRead?.(dashboard);
    return [...verifyDashboards([dashboard], endpoints), ...findMissing([dashboard], endpoints)];
  });
}

/** Reads the present file of a dashboard, which may be newer than the served one. @throws TailraceError `not_found` */
export function readDashboardFile(parts: SaveDashboardParts, idOrName: string) {
  return readDefinitionFile(dashboardKind(parts), parts.registry.getDashboard(idOrName));
}

/** Writes the file of a dashboard and has it served. @throws as `saveDefinitionFile` */
export function saveDashboard(
  parts: SaveDashboardParts,
  request: SaveFileRequest,
  caller: Pick<Caller, 'keyId' | 'person' | 'address'>,
) {
  return saveDefinitionFile(parts, { ...request, kind: dashboardKind(parts) }, caller);
}

const SEARCH_FILE = 'search.yaml';

export interface SaveSearchParts extends SaveFileParts, Pick<SaveParts, 'config'> {
  readonly registry: Pick<Registry, 'searches' | 'sources'>;
}

function searchKind(parts: SaveSearchParts): FileKind {
  return {
    ...{ noun: 'search', file: SEARCH_FILE, known: () => parts.registry.searches },
    dirOf: findSearchesDir,
    check: (definition) => checkSearchDraft(parts, definition),
    refusal: () => findOff('searches', parts.config),
  };
}

/** Checks the text of a saved search as files are checked. It may lack `id`. */
export function checkSearchDraft({ registry }: SaveSearchParts, definition: string): readonly Fault[] {
  return checkText(SEARCH_FILE, definition, (file) => {
    const faults = checkSavedSearch(file);
    return faults.length > 0 ? faults : verifySavedSearches([createSavedSearch(file)], registry.sources);
  });
}

/** Reads the present file of a saved search, which may be newer than the served one. @throws TailraceError `not_found` */
export function readSearchFile(parts: SaveSearchParts, idOrName: string) {
  return readDefinitionFile(searchKind(parts), getNamed('search', parts.registry.searches, idOrName));
}

/** Writes the file of a saved search and has it served. @throws as `saveDefinitionFile` */
export function saveSearch(
  parts: SaveSearchParts,
  request: SaveFileRequest,
  caller: Pick<Caller, 'keyId' | 'person' | 'address'>,
) {
  return saveDefinitionFile(parts, { ...request, kind: searchKind(parts) }, caller);
}
