import { cpSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** An alert whose instance is the number of the present interval, so that each interval fires once and resolves once. */
interface TickingAlert {
  readonly id: string;
  readonly name: string;
  readonly intervalSeconds: number;
  readonly forSeconds: number;
}

const EVERY_SECONDS = 1;
export const EVERY_MS = EVERY_SECONDS * 1_000;
export const TICKING_ALERTS: readonly TickingAlert[] = [
  { name: 'each.second', intervalSeconds: 1, forSeconds: 0 },
  { name: 'other.second', intervalSeconds: 1, forSeconds: 0 },
  { name: 'six.seconds', intervalSeconds: 6, forSeconds: 2 },
].map((alert, i) => ({ id: `0c5b7a9e-55a1-4f1e-9b4e-1d2f3a4b5c0${i}`, ...alert }));

const SECRET = `whsec_${Buffer.alloc(32, 'k').toString('base64')}`;

/**
 * Writes endpoints, alerts that change each second, and a file of receivers into a folder.
 *
 * @param url of the webhook; its path gets the name of the sender
 * @returns the settings of a sender
 */
export function writeTickingAlerts(
  folder: string,
  url: string,
): (sender: string) => Readonly<Record<string, string>> {
  const [alerts, endpoints] = [join(folder, 'alerts'), join(folder, 'ticking')];
  mkdirSync(alerts, { recursive: true });
  cpSync(join(import.meta.dirname, 'endpoints'), endpoints, { recursive: true });
  for (const alert of TICKING_ALERTS)
    writeFileSync(join(alerts, `${alert.name}.yaml`), JSON.stringify(toFile(alert)));
  return (sender) => {
    const receivers = join(folder, `${sender}.receivers.yaml`);
    const hook = { kind: 'webhook', url: `${url}/${sender}`, secret: SECRET, private: true };
    writeFileSync(receivers, JSON.stringify({ ops: hook }), { mode: 0o600 });
    return {
      TAILRACE_ENDPOINTS_DIR: endpoints,
      TAILRACE_ALERTS_DIR: alerts,
      TAILRACE_RECEIVERS_FILE: receivers,
    };
  };
}

function toFile({ id, name, intervalSeconds, forSeconds }: TickingAlert) {
  return {
    ...{ id, name, description: 'Changes with each interval.', endpoint: 'trial.seconds' },
    ...{ parameters: { seconds: intervalSeconds }, every: EVERY_SECONDS, for: forSeconds },
    ...{ when: 'rows', per: ['interval'], text: '{{ interval }}', to: ['ops'] },
  };
}
