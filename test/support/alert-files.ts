import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

const SECRET = `whsec_${Buffer.alloc(32, 'k').toString('base64')}`;

/**
 * Writes alerts that are evaluated each second, and webhooks for them.
 *
 * @param urls of the webhooks, by the names of the receivers
 * @param alerts fields of each; the first is called `alert.0`
 * @returns the settings for them
 */
export async function writeAlerts(
  folder: string,
  urls: Readonly<Record<string, string>>,
  ...alerts: readonly Readonly<Record<string, unknown>>[]
): Promise<Record<string, string>> {
  const alertsDir = join(folder, 'alerts');
  await mkdir(alertsDir, { recursive: true });
  for (const [i, fields] of alerts.entries()) {
    const alert = {
      ...{ id: `7c1d2e3f-0000-4000-8000-00000000000${i}`, name: `alert.${i}`, description: 'Of a test.' },
      ...{ every: 1, text: '{{ alert }}', to: Object.keys(urls), ...fields },
    };
    await writeFile(join(alertsDir, `${alert.name}.yaml`), JSON.stringify(alert));
  }
  const receivers = Object.entries(urls).map(([name, url]) => [
    name,
    { kind: 'webhook', url, secret: SECRET, private: true },
  ]);
  const receiversFile = join(folder, 'receivers.yaml');
  await writeFile(receiversFile, JSON.stringify(Object.fromEntries(receivers)), { mode: 0o600 });
  return { TAILRACE_ALERTS_DIR: alertsDir, TAILRACE_RECEIVERS_FILE: receiversFile };
}
