import { verifyAlerts, verifyReceivers } from '../alerts/verify.ts';
import { type Alert, checkAlert, createAlert } from '../definitions/alert.ts';
import { OWN_ALERTS_DIR } from '../definitions/folders.ts';
import type { Registry } from '../definitions/registry.ts';
import type { Fault } from '../errors.ts';
import type { Caller } from '../keys/keyring.ts';
import type { AlertTests } from '../management/alert-test.ts';
import type { AlertReplayView } from '../management/alert-view.ts';
import type { AlertFile, SavedAlert } from '../management/view.ts';
import {
  type FileKind,
  readDefinitionFile,
  type SaveFileParts,
  type SaveFileRequest,
  saveDefinitionFile,
} from './definition-file.ts';
import { findLong, parseDefinition, rejectDraft, withId } from './draft.ts';
import type { SaveParts } from './save.ts';
import { findAlertObstacle } from './workbench.ts';

const ALERT_FILE = 'alert.yaml';

interface AlertCheckParts {
  readonly registry: Pick<Registry, 'endpoints'>;
  /** Names of the receivers; empty: none are configured, and alerts are served without. */
  readonly receivers: () => ReadonlySet<string>;
}

/** Checks the text of an alert as files are checked, and that its receivers exist. It may lack `id`. */
export function checkAlertDraft({ registry, receivers }: AlertCheckParts, definition: string): Fault[] {
  const read = readAlertDraft(definition);
  if (Array.isArray(read)) return read;
  const known = receivers();
  return [
    ...verifyAlerts([read], { endpoints: registry.endpoints, areAll: true }),
    ...(known.size === 0 ? [] : verifyReceivers([read], known)),
  ];
}

/** @returns faults that need neither endpoints nor receivers, if there are any */
function readAlertDraft(definition: string): Alert | Fault[] {
  const long = findLong(ALERT_FILE, definition);
  if (long.length > 0) return long;
  const parsed = parseDefinition(definition, ALERT_FILE);
  if (Array.isArray(parsed)) return parsed;
  const file = withId(parsed);
  const faults = checkAlert(file);
  return faults.length > 0 ? faults : createAlert(file);
}

export interface TryAlertParts extends AlertCheckParts {
  readonly alertTests: Pick<AlertTests, 'replayWeek'>;
}

/** Finds when the alert of a text would have fired. @throws as `AlertTests`; TailraceError `invalid_definition` */
export async function tryAlertDraft(
  parts: TryAlertParts,
  definition: string,
  signal: AbortSignal,
): Promise<AlertReplayView> {
  rejectDraft(checkAlertDraft(parts, definition));
  const alert = readAlertDraft(definition);
  if (Array.isArray(alert)) throw new Error('rejectDraft has found no fault');
  return await parts.alertTests.replayWeek(alert, signal);
}

export interface SaveAlertParts extends AlertCheckParts, SaveFileParts, Pick<SaveParts, 'config'> {
  readonly registry: Pick<Registry, 'endpoints' | 'alerts' | 'getAlert'>;
}

function kindOf(parts: SaveAlertParts): FileKind {
  return {
    ...{ noun: 'alert', file: ALERT_FILE, known: () => parts.registry.alerts },
    dirOf: ({ alertsDir = OWN_ALERTS_DIR }) => alertsDir,
    check: (definition) => checkAlertDraft(parts, definition),
    refusal: () => findAlertObstacle(parts.config),
  };
}

/** Reads the present file of an alert, which may be newer than the served one. @throws TailraceError `not_found` */
export function readAlertFile(parts: SaveAlertParts, idOrName: string): Promise<AlertFile> {
  return readDefinitionFile(kindOf(parts), parts.registry.getAlert(idOrName));
}

/** Writes the file of an alert and has it served. @throws as `saveDefinitionFile` */
export function saveAlert(
  parts: SaveAlertParts,
  request: SaveFileRequest,
  caller: Pick<Caller, 'keyId' | 'person' | 'address'>,
): Promise<SavedAlert> {
  return saveDefinitionFile(parts, { ...request, kind: kindOf(parts) }, caller);
}
