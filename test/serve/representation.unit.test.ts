import { hash } from 'node:crypto';
import { brotliDecompressSync, gunzipSync, zstdDecompressSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { JSON_FORMAT } from '../../src/query/format.ts';
import { createRepresent } from '../../src/serve/describe.ts';
import type { Encoding } from '../../src/serve/negotiate.ts';

const ANSWER = { rows: 1, format: JSON_FORMAT, instantMs: 0, engineMs: 1, coreMs: 0 };
const answerOf = (text: string) => ({ ...ANSWER, body: Buffer.from(text) });
const LONG = JSON.stringify({
  result: Array.from({ length: 200 }, (_, i) => ({ i, text: 'the same again' })),
});
const DECOMPRESS = { gzip: gunzipSync, br: brotliDecompressSync, zstd: zstdDecompressSync };

describe('a representation', () => {
  test.each(['gzip', 'br', 'zstd'] as const)('in %s comes back as the answer was', async (encoding) => {
    const form = await createRepresent()(answerOf(LONG), encoding);
    expect(form.encoding).toBe(encoding);
    expect(form.body.length).toBeLessThan(LONG.length / 4);
    expect(DECOMPRESS[encoding](form.body).toString()).toBe(LONG);
  });

  test('that compresses badly is sent and not kept: the cache does not count it', async () => {
    const noise = Array.from({ length: 50 }, (_, i) => hash('sha512', `${i}`, 'base64')).join('');
    const answer = answerOf(noise);
    const represent = createRepresent();
    const first = await represent(answer, 'gzip');
    expect(gunzipSync(first.body).toString()).toBe(noise);
    expect(await represent(answer, 'gzip')).not.toBe(first);
  });
});

describe('the ETag', () => {
  const etagOf = async (text: string, encoding: Encoding = 'identity') =>
    (await createRepresent()(answerOf(text), encoding)).etag;

  test('is that of the content: the same for the same bytes, another for others and for each encoding', async () => {
    expect(await etagOf(LONG)).toBe(await etagOf(LONG));
    const encoded = [etagOf(LONG, 'gzip'), etagOf(LONG, 'br')];
    const all = await Promise.all([etagOf(LONG), etagOf(`${LONG} `), ...encoded]);
    expect(new Set(all).size).toBe(all.length);
    for (const etag of all) expect(etag).toMatch(/^"[\w-]+"$/);
  });

  test('of a large answer is computed by parts, other work in between, once for all who ask', async () => {
    const text = 'x'.repeat(20 * 1024 * 1024); // five parts, a turn after each
    let turns = 0;
    const count = () => {
      turns++;
      next = setImmediate(count);
    };
    let next = setImmediate(count);
    const answer = answerOf(text);
    const represent = createRepresent();
    const [a, b] = await Promise.all([represent(answer, 'identity'), represent(answer, 'identity')]);
    clearImmediate(next);
    expect(a).toBe(b);
    expect(turns).toBeGreaterThanOrEqual(5);
    expect(a.etag).toBe(`"${hash('sha256', text, 'base64url').slice(0, 22)}"`);
    expect(represent(answer, 'identity')).toBe(a);
  });
});
