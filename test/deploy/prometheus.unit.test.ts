import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';

const read = (path: string) => readFileSync(path, 'utf8');

test('the rules and the dashboard for Prometheus name only metrics that a service has', () => {
  const known = new Set([...read('docs/metrics.md').matchAll(/^- `(\w+)`/gm)].map(([, name]) => name));
  const texts = ['rules.yaml', 'dashboard.json'].map((name) => read(`deploy/prometheus/${name}`));
  const named = texts.flatMap((text) => text.match(/\btailrace_\w+/g) ?? []);
  expect(new Set(named).size).toBeGreaterThan(25);
  const missing = named.filter((name) => !known.has(name.replace(/_(?:bucket|sum|count)$/, '')));
  expect(missing.filter((name) => !known.has(name))).toEqual([]);
});
