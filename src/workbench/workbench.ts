import { dirname, join, sep } from 'node:path';
import type { Config } from '../config/config.ts';
import {
  findCopies,
  findDashboardTarget,
  findSearchesDir,
  needsCopy,
  type ReadFolders,
} from '../definitions/folders.ts';
import { PARAMETER_TYPES } from '../definitions/parameter-type.ts';
import type { Registry } from '../definitions/registry.ts';
import type { Source } from '../definitions/source.ts';
import type { Engine } from '../engine/engine.ts';
import { tableColumns } from '../engine/table.ts';
import { TailraceError } from '../errors.ts';
import type { Caller } from '../keys/keyring.ts';
import { requireUnrestricted } from '../management/keys.ts';
import type { EndpointFiles, WorkbenchView } from '../management/workbench-view.ts';
import { endpointPaths, readTexts, versionOf } from './files.ts';
import type { RunParts } from './run.ts';

export interface WorkbenchParts extends RunParts {
  readonly config: Pick<Config, 'editEndpoints'>;
  /** The folders that the served definitions were read from. */
  readonly folders: () => ReadFolders;
  readonly readCatalogue: () => Promise<Catalogue>;
  /** Names of the receivers of alerts. */
  readonly receivers: () => ReadonlySet<string>;
}

/**
 * Rejects limited callers: free SQL reads every project and every source. Signed tokens never have the scope `manage`.
 * @throws TailraceError `forbidden`
 */
export function requireAuthor(caller: Caller): void {
  const action = 'use the workbench, in which SQL reads every project';
  requireUnrestricted(caller, action);
  if (caller.scopes.includes('query')) return;
  throw new TailraceError('forbidden', `a key without the scope "query" cannot ${action}`, {
    rejectReason: 'scope',
  });
}

type Saving = Pick<WorkbenchParts, 'config' | 'folders'>;

type Kind = 'endpoints' | 'alerts' | 'dashboards' | 'searches';

/** Returns why definitions of a kind cannot be saved here; `undefined` if they can. */
export function findWhyNotSaved(kind: Kind, { config, folders }: Saving): string | undefined {
  if (config.editEndpoints === '0')
    return `this service does not write ${kind}: copy the text into its file, or set TAILRACE_EDIT_ENDPOINTS=1`;
  const read = folders();
  if (kind === 'dashboards' && findDashboardTarget(read) === undefined)
    return 'no folder of dashboards is read with the endpoints of this service: set TAILRACE_DASHBOARDS_DIR';
  const canShip = kind === 'endpoints' || (kind === 'dashboards' && read.dashboardsDir !== undefined);
  if (!canShip || !read.shipped.includes('endpointsDir') || findCopies(read) !== undefined) return undefined;
  return (
    `the ${kind} are those that ship with Tailrace: start the service in a folder with your ` +
    'own endpoints, as "tailrace init" creates it'
  );
}

/** @throws TailraceError `forbidden` if nothing of a kind can be saved here */
export function rejectIfOff(kind: Kind, parts: Saving): void {
  const reason = findWhyNotSaved(kind, parts);
  if (reason !== undefined) throw new TailraceError('forbidden', reason);
}

const COPY_NOTICE =
  'These endpoints ship with Tailrace. The first save copies them into the folder definitions ' +
  'of the data directory, and they are served from there from then on.';

export async function describeWorkbench(parts: WorkbenchParts): Promise<WorkbenchView> {
  const reasonOf = (kind: Kind) => findWhyNotSaved(kind, parts) ?? null;
  const reason = reasonOf('endpoints');
  return {
    ...{ may_edit: reason === null, reason },
    notice: needsCopy(parts.folders()) ? COPY_NOTICE : null,
    alerts: { reason: reasonOf('alerts'), receivers: [...parts.receivers()] },
    dashboards: { reason: reasonOf('dashboards') },
    searches: { reason: reasonOf('searches') },
    ...(await parts.readCatalogue()),
  };
}

/** Reads the present files, which may be newer than the served endpoint. @throws TailraceError `endpoint_not_found` */
export async function readFiles(parts: WorkbenchParts, idOrName: string): Promise<EndpointFiles> {
  const { name, file } = parts.registry.getEndpoint(idOrName);
  const texts = await readTexts(endpointPaths(dirname(file)));
  if (texts === undefined)
    throw new TailraceError('endpoint_not_found', `the files of ${name} were removed since it was loaded`);
  const [definition = '', sql = ''] = texts;
  const mayEdit = findWhyNotSaved('endpoints', parts) === undefined;
  return { name, definition, sql, version: versionOf(texts), may_edit: mayEdit };
}

/** Removes paths of this machine; those in a folder of definitions begin there. */
export function inFolder(message: string, { folders }: Pick<WorkbenchParts, 'folders'>): string {
  const read = folders();
  const { endpointsDir, sourcesDir, alertsDir = endpointsDir, dashboardsDir = endpointsDir } = read;
  return [endpointsDir, sourcesDir, alertsDir, dashboardsDir, findSearchesDir(read)]
    .map((dir) => join(dir, sep))
    .reduce((text, dir) => text.replaceAll(dir, ''), message);
}

/** The names that an editor of drafts completes. */
export type Catalogue = Pick<WorkbenchView, 'functions' | 'tables' | 'parameter_types'>;

/** Returns a function that reads the catalogue; the engine's names of functions are read once. */
export function createCatalogue(engine: Engine, registry: Registry): () => Promise<Catalogue> {
  let functions: Promise<{ name: string }[]> | undefined;
  const read = async () => {
    const rows = await engine.inspect('SELECT name FROM system.functions ORDER BY name');
    return rows.map((row) => ({ name: String(row['name']) })).filter(({ name }) => name !== UNCALLABLE);
  };
  return async () => {
    functions ??= read().catch((error: unknown) => {
      functions = undefined; // the next caller retries
      throw error;
    });
    return {
      functions: await functions,
      tables: registry.sources.map(describeTable),
      parameter_types: [...PARAMETER_TYPES],
    };
  };
}

/** Whether no stored query may call it. */
const UNCALLABLE = 'file';

const COMMON: Readonly<Record<string, string>> = {
  id: 'Id of the event.',
  timestamp: 'Time of the event, UTC.',
  project: 'Project of the event; empty: none.',
  event_message: 'Text of the event.',
  metadata: 'JSON text as received; functions such as JSONExtractString read it.',
  attributes: 'JSON text of the other members of the event; empty if there are none.',
};

function describeTable(source: Source): WorkbenchView['tables'][number] {
  const own = new Map(source.columns.map(({ name, description }) => [name, description]));
  const columns = tableColumns(source).map(({ name, type }) => ({
    name,
    type,
    description: own.get(name) ?? COMMON[name] ?? '',
  }));
  return { name: source.table, source: source.name, columns };
}
