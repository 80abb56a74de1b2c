import { OWN_ALERTS_DIR } from '../../definitions/folders.ts';
import type { Registry } from '../../definitions/registry.ts';
import type { Caller } from '../../keys/keyring.ts';
import type { AlertFile, SavedAlert } from '../../management/view.ts';
import {
  type FileKind,
  readDefinitionFile,
  type SaveFileParts,
  type SaveFileRequest,
  saveDefinitionFile,
} from '../definition-file.ts';
import type { SaveParts } from '../save.ts';
import { ALERT_FILE, type AlertCheckParts, checkAlertDraft } from './check.ts';
import { findAlertRefusal } from './refusal.ts';

export interface SaveAlertParts extends AlertCheckParts, SaveFileParts, Pick<SaveParts, 'config'> {
  readonly registry: Pick<Registry, 'endpoints' | 'alerts' | 'getAlert'>;
}

function kindOf(parts: SaveAlertParts): FileKind {
  return {
    ...{ noun: 'alert', history: 'alerts', file: ALERT_FILE, known: () => parts.registry.alerts },
    dirOf: ({ alertsDir = OWN_ALERTS_DIR }) => alertsDir,
    check: (definition) => checkAlertDraft(parts, definition),
    refusal: () => findAlertRefusal(parts),
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
