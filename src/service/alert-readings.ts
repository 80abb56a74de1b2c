import { readStored } from '../alerts/evaluation.ts';
import type { Evaluator } from '../alerts/evaluator.ts';
import type { Alert } from '../definitions/alert.ts';
import type { Registry } from '../definitions/registry.ts';
import type { AlertStore } from '../keys/alerts/alert-store.ts';
import type { AlertReadings } from '../telemetry/alert-metrics.ts';

interface AlertReadingParts {
  readonly registry: Pick<Registry, 'alerts' | 'findEndpoint'>;
  readonly store: Pick<AlertStore, 'readStates' | 'readOutbox'>;
  readonly evaluator: () => Pick<Evaluator, 'isLeader'>;
  readonly receivers: () => Iterable<string>;
  /** ms since the epoch. */
  readonly now: () => number;
}

/** The names of an alert and its endpoint, which the alert may name by its UUID. */
export function nameServed(registry: Pick<Registry, 'findEndpoint'>, { name, endpoint }: Alert) {
  return { name, endpoint: registry.findEndpoint(endpoint)?.name ?? endpoint };
}

/** What metrics read of the alerts. */
export function readAlerts({ registry, store, evaluator, receivers, now }: AlertReadingParts): AlertReadings {
  return {
    now,
    isEvaluating: () => evaluator().isLeader(),
    async readFiring() {
      const states = await store.readStates();
      return registry.alerts.map((alert) => {
        const text = states.get(alert.id);
        const instances = text === undefined ? [] : Object.values(readStored(text).state.instances);
        return {
          ...nameServed(registry, alert),
          instances: instances.filter(({ phase }) => phase === 'firing').length,
        };
      });
    },
    readOutbox: () => store.readOutbox(),
    receivers: () => [...receivers()],
  };
}
