import { basename } from 'node:path';
import { type Static, Type } from 'typebox';
import { verifyAlerts, verifyReceivers } from '../alerts/verify.ts';
import { ALERTS, type Alert } from '../definitions/alert.ts';
import { DASHBOARDS, type Dashboard } from '../definitions/dashboard.ts';
import { ENDPOINT_NAME } from '../definitions/endpoint.ts';
import type { FileKind } from '../definitions/file-kind.ts';
import {
  findDashboardTarget,
  findSearchesDir,
  OWN_ALERTS_DIR,
  OWN_DASHBOARDS_DIR,
  type ReadFolders,
} from '../definitions/folders.ts';
import { getNamed, type Registry } from '../definitions/registry.ts';
import { SAVED_SEARCHES, type SavedSearch } from '../definitions/saved-search.ts';
import { type Fault, TailraceError } from '../errors.ts';
import type { Caller } from '../keys/keyring.ts';
import { closed } from '../lib/schema.ts';
import type { AlertTests } from '../management/alert-test.ts';
import type { AlertReplayView } from '../management/alert-view.ts';
import type { AlertFile, SavedAlert } from '../management/workbench-view.ts';
import { verifySavedSearches } from '../search/verify.ts';
import { findMissing, verifyDashboards } from '../verify/dashboards.ts';
import { type CheckParts as DraftParts, type ExecutionOptions, getEndpoint } from './check.ts';
import { complete, DRAFT, findLong, parseDefinition, rejectDraft, VERSION, withId } from './draft.ts';
import { readIfThere, versionOf } from './files.ts';
import { auditSaved, type SaveParts, writeServed } from './save.ts';
import { findWhyNotSaved, rejectIfOff } from './workbench.ts';

/** The parts by which files of definitions are checked. */
interface CheckParts {
  readonly registry: Pick<Registry, 'alerts' | 'dashboards' | 'searches' | 'endpoints' | 'sources'>;
  /** Names of the receivers; empty: none are configured, and alerts are served without. */
  readonly receivers: () => ReadonlySet<string>;
}

export interface FileParts
  extends CheckParts,
    Pick<SaveParts, 'config' | 'folders' | 'edit' | 'audit' | 'newId'> {}

/** A kind of definition that is one file, as the workbench saves it. */
export interface EditedKind<T> extends FileKind<T> {
  readonly nouns: 'alerts' | 'dashboards' | 'searches';
  readonly dirOf: (folders: ReadFolders) => string;
  /** Checks a well-formed definition against what is served. */
  readonly verify: (item: T, parts: CheckParts) => readonly Fault[];
}

export const EDITED_ALERTS: EditedKind<Alert> = {
  ...ALERTS,
  nouns: 'alerts',
  dirOf: ({ alertsDir = OWN_ALERTS_DIR }) => alertsDir,
  verify: (alert, { registry: { endpoints }, receivers }) => {
    const known = receivers();
    const faults = known.size === 0 ? [] : verifyReceivers([alert], known);
    return [...verifyAlerts([alert], { endpoints, areAll: true }), ...faults];
  },
};

export const EDITED_DASHBOARDS: EditedKind<Dashboard> = {
  ...DASHBOARDS,
  nouns: 'dashboards',
  dirOf: (read) => findDashboardTarget(read) ?? OWN_DASHBOARDS_DIR, // without one the save has been rejected before
  verify: (dashboard, { registry: { endpoints } }) => [
    ...verifyDashboards([dashboard], endpoints),
    ...findMissing([dashboard], endpoints),
  ],
};

export const EDITED_SEARCHES: EditedKind<SavedSearch> = {
  ...SAVED_SEARCHES,
  nouns: 'searches',
  dirOf: findSearchesDir,
  verify: (search, { registry }) => verifySavedSearches([search], registry.sources),
};

/**
 * Checks the text of a definition as its file is checked, and by what is served. It may lack `id`.
 * @returns the faults; `item` if the text by itself has none
 */
export function checkText<T>(
  kind: EditedKind<T>,
  parts: CheckParts,
  definition: string,
): { readonly faults: readonly Fault[]; readonly item?: T } {
  const file = `${kind.noun}.yaml`;
  const long = findLong(file, definition);
  if (long.length > 0) return { faults: long };
  const parsed = parseDefinition(definition, file);
  if (Array.isArray(parsed)) return { faults: parsed };
  const yaml = withId(parsed);
  const faults = kind.check(yaml);
  if (faults.length > 0) return { faults };
  const item = kind.create(yaml);
  return { item, faults: kind.verify(item, parts) };
}

/** Reads the present file of a definition, which may be newer than the served one. @throws TailraceError `not_found` */
export async function readDefinitionFile<T>(
  { noun, nouns }: EditedKind<T>,
  parts: FileParts,
  idOrName: string,
): Promise<AlertFile> {
  const served: readonly Named[] = parts.registry[nouns];
  const { name, file } = getNamed(noun, served, idOrName);
  const definition = await readIfThere(file);
  if (definition === undefined)
    throw new TailraceError('not_found', `the file of ${name} was removed since it was loaded`);
  const version = versionOf([definition]);
  return { name, definition, version, may_edit: findWhyNotSaved(nouns, parts) === undefined };
}

type Named = Pick<Alert, 'id' | 'name' | 'file'>;

export const NEW_FILE_VERSION = closed({ name: ENDPOINT_NAME, definition: Type.String(), version: VERSION });

/**
 * Writes the file of a definition and has it served.
 * @throws TailraceError `forbidden`, `conflict`, `invalid_definition`: then nothing has changed
 */
export async function saveDefinitionFile<T>(
  kind: EditedKind<T>,
  parts: FileParts,
  { request, caller }: { readonly request: Static<typeof NEW_FILE_VERSION>; readonly caller: Caller },
): Promise<SavedAlert> {
  const { noun, nouns, dirOf } = kind;
  const { name } = request;
  rejectIfOff(nouns, parts);
  const served = (): readonly Named[] => parts.registry[nouns];
  const identity = { file: `${noun}.yaml`, name, newId: parts.newId, served: served() };
  const definition = complete(request.definition, identity);
  const added = countLines(definition) - countLines(request.definition);
  const { faults } = checkText(kind, parts, definition);
  rejectDraft(faults.map((fault) => ({ ...fault, line: Math.max(1, fault.line - added) })));
  const version = await writeServed(parts, {
    ...{ noun, name, version: request.version, texts: [definition] },
    place() {
      const known = served().find((one) => one.name === name);
      return { dir: dirOf(parts.folders()), base: basename(known?.file ?? `${name}.yaml`) };
    },
  });
  await auditSaved(parts, caller, `${noun} ${name} ${version}`);
  return { name, version };
}

const countLines = (text: string) => text.split('\n').length;

interface TryAlertParts extends Omit<CheckParts, 'registry'>, DraftParts {
  readonly alertTests: Pick<AlertTests, 'replayWeek'>;
}

export const ALERT_DRAFT = closed({
  definition: Type.String(),
  endpoint: Type.Optional(closed(DRAFT.properties, { description: 'Its endpoint, if it is not saved.' })),
});

/** Finds when the alert of a text would have fired. @throws as `AlertTests`; TailraceError `invalid_definition` */
export async function tryAlertDraft(
  parts: TryAlertParts,
  draft: Static<typeof ALERT_DRAFT>,
  execution: ExecutionOptions & { readonly signal: AbortSignal },
): Promise<AlertReplayView> {
  const unsaved = draft.endpoint && (await getEndpoint(parts, draft.endpoint, execution)).endpoint;
  const registry = unsaved === undefined ? parts.registry : { ...parts.registry, endpoints: [unsaved] };
  const { faults, item } = checkText(EDITED_ALERTS, { ...parts, registry }, draft.definition);
  rejectDraft(faults);
  if (item === undefined) throw new Error('rejectDraft has found no fault');
  return await parts.alertTests.replayWeek({ alert: item, endpoint: unsaved }, execution.signal);
}
