import { verifyAlerts, verifyReceivers } from '../../alerts/verify.ts';
import { checkAlert, createAlert } from '../../definitions/alert.ts';
import type { Fault } from '../../definitions/fault.ts';
import type { Registry } from '../../definitions/registry.ts';
import { findLong, parseDefinition, withId } from '../draft.ts';

export const ALERT_FILE = 'alert.yaml';

export interface AlertCheckParts {
  readonly registry: Pick<Registry, 'endpoints'>;
  /** Names of the receivers; empty: none are configured, and alerts are served without. */
  readonly receivers: () => ReadonlySet<string>;
}

/** Checks the text of an alert as files are checked, and that its receivers exist. It may lack `id`. */
export function checkAlertDraft({ registry, receivers }: AlertCheckParts, definition: string): Fault[] {
  const long = findLong(ALERT_FILE, definition);
  if (long.length > 0) return long;
  const parsed = parseDefinition(definition, ALERT_FILE);
  if (Array.isArray(parsed)) return parsed;
  const file = withId(parsed);
  const faults = checkAlert(file);
  if (faults.length > 0) return faults;
  const alerts = [createAlert(file)];
  const known = receivers();
  return [
    ...verifyAlerts(alerts, { endpoints: registry.endpoints, areAll: true }),
    ...(known.size === 0 ? [] : verifyReceivers(alerts, known)),
  ];
}
