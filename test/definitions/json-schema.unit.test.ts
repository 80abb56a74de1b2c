import { globSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { Ajv } from 'ajv';
import { describe, expect, test } from 'vitest';
import { FILE_SCHEMAS } from '../../scripts/docs/file-schemas.ts';
import { parseYaml } from '../../src/definitions/yaml-file.ts';

const FILES: Readonly<Record<keyof typeof FILE_SCHEMAS, readonly string[]>> = {
  endpoint: globSync('{endpoints,studio/endpoints,template/endpoints}/*/endpoint.yaml'),
  source: globSync('{sources,studio/sources,template/sources}/*.yaml'),
  alert: globSync('template/alerts/*.yaml'),
  dashboard: globSync('{dashboards,template/dashboards}/*.yaml'),
  search: globSync('template/searches/*.yaml'),
  test: globSync('{endpoints,studio/endpoints,template/endpoints}/*/tests/*.yaml'),
};

function readValue(path: string): unknown {
  const file = parseYaml(path, readFileSync(path, 'utf8'));
  if (Array.isArray(file)) throw new Error(file.map(({ message }) => message).join());
  return file.value;
}

describe.each(Object.keys(FILES) as (keyof typeof FILES)[])('the schema of %s', (kind) => {
  const files = FILES[kind];
  // As an editor compiles it: strictly, from the printed text alone.
  const printed = JSON.parse(readFileSync(`schema/${kind}.json`, 'utf8')) as object;
  const isValid = new Ajv({
    ...{ strict: true, strictTypes: false, strictRequired: false, allowUnionTypes: true },
  }).compile(printed);

  test('accepts every file that ships, and rejects each with an unknown, a missing or a wrong field', () => {
    expect(files.length).toBeGreaterThan(['test', 'alert', 'search'].includes(kind) ? 0 : 3);
    for (const path of files) {
      const value = readValue(path) as Record<string, unknown>;
      isValid(value);
      expect(isValid.errors ?? [], path).toEqual([]);
      const [first = ''] = Object.keys(value);
      const { [first]: _, ...others } = value;
      for (const wrong of [others, { ...value, [first]: null }, { ...value, [`${first}s`]: 1 }, null, []])
        expect(isValid(wrong), JSON.stringify(wrong)).toBe(false);
    }
  });

  test('is that of the reader, without its annotations, and named by the files that init writes', () => {
    expect(printed).toEqual(FILE_SCHEMAS[kind]);
    const path = files.find((one) => one.startsWith('template/')) ?? '';
    const [, named = ''] = /^# yaml-language-server: \$schema=(\S+)$/m.exec(readFileSync(path, 'utf8')) ?? [];
    const target = join(dirname(relative('template', path)), named);
    expect(target).toBe(`node_modules/tailrace/schema/${kind}.json`);
  });
});
