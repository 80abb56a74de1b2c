import type { Alert } from '../definitions/alert.ts';
import { getNamed, type Registry } from '../definitions/registry.ts';
import { TailraceError } from '../errors.ts';
import type { ControlStore } from '../keys/control-store.ts';
import { isListed } from '../keys/grant.ts';
import type { Caller } from '../keys/keyring.ts';
import { parseParameters } from '../query/parameters.ts';
import { parsePinnedParameters } from '../query/pins.ts';

export interface AlertParts {
  readonly control: Pick<ControlStore, 'alerts' | 'record'>;
  readonly registry: Pick<Registry, 'alerts' | 'getAlert' | 'findEndpoint'>;
  /** ms since the epoch. */
  readonly now: () => number;
  /** A UUID. */
  readonly newId: () => string;
}

/** The limits of a caller. */
export type Reach = Pick<Caller, 'keyId' | 'person' | 'address' | 'endpoints' | 'pins'>;

/** Whether a caller may see the rows of some alerts only. */
export function isLimited({ endpoints, pins }: Reach): boolean {
  return endpoints !== undefined || Object.keys(pins).length > 0;
}

/** @throws TailraceError `not_found`, also for an alert whose rows the caller may not read */
export function getVisible(parts: AlertParts, caller: Reach, name: string): Alert {
  const visible = parts.registry.alerts.filter((alert) => isVisible(parts, caller, alert));
  return getNamed('alert', visible, name);
}

/** Whether a caller could read the rows of an alert: its labels and values are some of them. */
export function isVisible({ registry }: AlertParts, caller: Reach, alert: Alert): boolean {
  const endpoint = registry.findEndpoint(alert.endpoint);
  if (endpoint === undefined || !isListed(caller.endpoints, endpoint)) return false;
  if (Object.keys(caller.pins).length === 0) return true;
  try {
    const pinned = parsePinnedParameters(endpoint, alert.parameters, { pins: caller.pins });
    const free = parseParameters(endpoint, alert.parameters);
    return endpoint.parameters.every(({ name }) => pinned[name] === free[name]);
  } catch (error) {
    if (error instanceof TailraceError) return false; // the pins allow other values only
    throw error;
  }
}
