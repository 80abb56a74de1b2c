import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { parse } from 'yaml';
import { startAlertingService } from '../support/alerting.ts';
import { get } from '../support/http.ts';

const FOLDER = 'deploy/prometheus';
const service = await startAlertingService();
afterAll(service.close);
interface Rules {
  readonly groups: readonly {
    readonly rules: readonly { readonly alert: string; readonly expr: string }[];
  }[];
}

const rules = (parse(await readFile(join(FOLDER, 'rules.yaml'), 'utf8')) as Rules).groups.flatMap(
  (group) => group.rules,
);
const dashboard = JSON.parse(await readFile(join(FOLDER, 'dashboard.json'), 'utf8')) as {
  readonly panels: readonly {
    readonly title: string;
    readonly targets?: readonly { readonly expr: string }[];
  }[];
};
const queries = dashboard.panels.flatMap(({ targets = [] }) => targets.map(({ expr }) => expr));

test('the rules and the dashboard for Prometheus name only metrics that a service has', async () => {
  const { text } = await get(service.url, '/metrics');
  const known = new Set([...text.matchAll(/^# TYPE (\w+)/gm)].map(([, name = '']) => name));
  const texts = [...rules.map(({ expr }) => expr), ...queries];
  const named = texts.flatMap((expr) => expr.match(/\b(?:tailrace|process|nodejs)_\w+/g) ?? []);
  expect(new Set(named).size).toBeGreaterThan(25);
  const missing = named.filter((name) => !known.has(name.replace(/_(?:bucket|sum|count)$/, '')));
  expect(missing.filter((name) => !known.has(name))).toEqual([]);
});
