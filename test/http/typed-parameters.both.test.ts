import { describe, expect, test } from 'vitest';
import { writeDefinitions } from '../sandbox/support.ts';
import { EVERY_TYPE } from '../support/every-type.ts';
import { expectError, get, post, QUERY_PATH } from '../support/http.ts';
import { ownService } from '../support/service.ts';

const definitions = await writeDefinitions(EVERY_TYPE);
const { url, newKey } = await ownService({ env: definitions.env });

const EVERY_PATH = `${QUERY_PATH}/every.type`;
const postEvery = (body: string, headers = {}) => post(url, EVERY_PATH, body, headers);

describe('a parameter of each type', () => {
  test('is NULL or empty if it is left out or empty', async () => {
    const none = { s: '', e: '', t: '', r: '', i: null, n: null, b: null, d: null, u: null, l: '[]' };
    const empty = Object.keys(none).map((name) => `${name}=`);
    expect((await get(url, EVERY_PATH)).body.result).toEqual([none]);
    expect((await get(url, `${EVERY_PATH}?${empty.join('&')}`)).body.result).toEqual([none]);
    expect((await postEvery('{"s":"","l":[]}')).body.result).toEqual([none]);
  });

  test.each(['9007199254740993', '-9223372036854775808'])(
    'i and l keep each digit of %s, in the URL and in a body',
    async (digits) => {
      for (const answer of [
        await get(url, `${EVERY_PATH}?i=${digits}&l=${digits}`),
        await postEvery(`{"i":${digits},"l":[${digits},"${digits}"]}`),
        await postEvery(`{"i":"${digits}","l":"${digits}"}`),
      ]) {
        expect(answer.text).toContain(`"i":${digits},`);
        expect(answer.text).toContain(digits.slice(1));
        expect(answer.body.result[0]?.['l']).toMatch(new RegExp(`^\\[${digits}(,${digits})?\\]$`));
      }
    },
  );

  test('keeps to the pin of an integer beyond 2^53, digit by digit', async () => {
    const headers = { 'x-api-key': await newKey({ pins: { i: '9007199254740993' } }) };
    expect((await postEvery('{"i":9007199254740993}', headers)).text).toContain('"i":9007199254740993,');
    expectError(await postEvery('{"i":9007199254740992}', headers), 'forbidden');
    expectError(await postEvery('{"s":9007199254740993}'), 'invalid_request');
  });
});
