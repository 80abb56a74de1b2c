import { readFileSync } from 'node:fs';
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, expect, test } from 'vitest';
import { RECEIVER_KINDS } from '../../src/alerts/receivers/kinds.ts';
import { verifyAlerts } from '../../src/alerts/verify.ts';
import { ALERT_FILE } from '../../src/definitions/alert.ts';
import { readDefinitions } from '../../src/definitions/read.ts';
import { formatFault } from '../../src/errors.ts';
import { ownFolder } from '../support/service.ts';

const folder = await ownFolder();
const alertsDir = join(folder.path, 'alerts');
const folders = { endpointsDir: 'template/endpoints', sourcesDir: 'template/sources', alertsDir };
const SHIPPED = await readFile('template/alerts/failing.paths.yaml', 'utf8');

beforeEach(async () => {
  await rm(alertsDir, { recursive: true, force: true });
  await mkdir(alertsDir);
});

/** Finds the faults of alert files, without the folder's own path. */
async function faultsOf(texts: Readonly<Record<string, string>>): Promise<string[]> {
  for (const [name, text] of Object.entries(texts)) await writeFile(join(alertsDir, name), text);
  const { definitions, faults } = await readDefinitions(folders);
  const { alerts = [], endpoints } = definitions;
  const found = [...faults, ...verifyAlerts(alerts, { endpoints, areAll: true })];
  return found.map((fault) => formatFault(fault).replaceAll(`${alertsDir}/`, ''));
}

test.each([
  ['endpoint: failing.paths', 'endpoint: failing.path', 5, 'no endpoint is called "failing.path"; there a'],
  ['parameters: { project: aurora }\n', '', 2, '"project" is required'],
  ['column: failures', 'column: path', 9, 'is of type string, which cannot be compared with a number'],
  ['{{ path }}', '{{ route }}', 13, 'has "{{ route }}"; in braces only a name is allowed: {{ path }}'],
  ['{{ path }}', '{% if path %}', 13, 'has "{% if path %} failed '],
  ['{{ failures }}', '{{ failures | round }}', 13, 'has "{{ failures | round }}"; in braces only a name'],
  ['to: [ops]', 'to: []', 14, '"to" must be a list of 1 to 20 different receivers'],
])('a fault of an alert is reported with its line: %j as %j', async (right, wrong, line, message) => {
  expect(SHIPPED).toContain(right);
  const found = (await faultsOf({ 'a.yaml': SHIPPED.replace(right, wrong) })).join('\n');
  expect(found).toContain(message);
  if (line > 2) expect(found).toContain(`a.yaml:${line}:`);
});

test('docs/alerts.md has every field of alerts and of receivers', () => {
  const page = readFileSync('docs/alerts.md', 'utf8');
  const isShown = (name: string) => new RegExp(`\`${name}\`|^${name}:|\\b${name}: true`, 'm').test(page);
  expect(Object.keys(ALERT_FILE.properties).filter((name) => !isShown(name))).toEqual([]);
  const rows = page.split('\n');
  for (const [kind, { shape }] of Object.entries(RECEIVER_KINDS)) {
    const row = rows.find((one) => one.startsWith(`| \`${kind}\` |`)) ?? '';
    const common = ['kind', 'private'].filter(isShown);
    const missing = Object.keys(shape.properties).filter((name) => !row.includes(`\`${name}\``));
    expect(missing).toEqual(common);
  }
});
