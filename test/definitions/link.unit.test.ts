import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { readDefinitions } from '../../src/definitions/read.ts';

const dir = await mkdtemp(join(tmpdir(), 'tailrace-links-'));
afterAll(() => rm(dir, { recursive: true, force: true }));

/** The links of a source with this line in its file, and the faults of the file. */
async function read(links: string) {
  const head =
    'id: 5a0c3a1e-4a56-4f3c-8f52-0d1ec2b8d7a1\nname: a\ntable: a\ndescription: d\nproject: project\n';
  await writeFile(join(dir, 'a.yaml'), `${head}links: ${links}\n`);
  const { definitions, faults } = await readDefinitions({ endpointsDir: 'endpoints', sourcesDir: dir });
  return {
    links: definitions.sources[0]?.links,
    faults: faults.map(({ line, message }) => `${line}: ${message}`),
  };
}

const URL = 'https://traces.example.com/trace/{value}';
const linkTo = (url: string, field = 'trace_id') => `[{ label: Trace, field: '${field}', url: '${url}' }]`;

describe('links of a source', () => {
  test('have a label, a field as a search names it, and an address', async () => {
    const { links } = await read(linkTo(URL));
    expect(links).toEqual([{ label: 'Trace', field: 'trace_id', url: URL }]);
    for (const field of ['request.path', 'metadata.id', '"a b".c', 'x-request-id']) {
      expect((await read(linkTo(URL, field))).links?.[0]?.field).toBe(field);
    }
    for (const url of ['http://127.0.0.1:3000/?q={value}', 'https://a.example', 'https://[::1]/#{trace.id}'])
      expect((await read(linkTo(url))).links?.[0]?.url).toBe(url);
  });

  test.each([
    ['an address of another scheme', linkTo('javascript:alert(1)'), /"url" must be an address such as https/],
    ['a value as its host', linkTo('https://{value}/a'), /only behind the host/],
    ['a value in its host', linkTo('https://a.{value}'), /only behind the host/],
    ['a user in its address', linkTo('https://a@b.example/{value}'), /must be an address/],
    ['a space', linkTo('https://a.example/a b'), /must be an address/],
    ['a search for a field', linkTo(URL, 'trace_id:*'), /"field" must be the name of a field/],
    ['no label', `[{ field: a, url: '${URL}' }]`, /"label" is missing/],
    ['an unknown field', `[{ label: a, field: a, url: '${URL}', to: b }]`, /unknown field "to"/],
    ['no list', '{ label: a }', /"links" must be a list of at most 32/],
  ])('with %s are a fault', async (_name, links, message) => {
    const { faults } = await read(links);
    expect(faults).toContainEqual(expect.stringMatching(message));
    expect(faults.every((fault) => fault.startsWith('6: ') || fault.startsWith('1: '))).toBe(true);
  });
});
