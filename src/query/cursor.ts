import { createHmac, timingSafeEqual } from 'node:crypto';
import type { Endpoint } from '../definitions/endpoint.ts';
import { CURSOR_PARAMETER } from '../definitions/pages.ts';
import { PINNED_PREFIX } from '../definitions/parameter.ts';
import { deriveSecret } from '../lib/hash.ts';
import { type ParameterValues, type RawParameters, rejectParameter } from './parameters.ts';
import { isPosition, type Position } from './position.ts';

/** Cursors: positions as opaque, signed texts, each valid for one question of one definition. */
export type Cursors = ReturnType<typeof createCursors>;

const MAC_BYTES = 16;
// Length of the hash of each part of a question, which tells what differs. The signature does not rest on it.
const PART_CHARS = 8;
// Ids of events have at most 256 characters; more than eight columns of such texts.
const CURSOR_CHARS_MAX = 16_384;

const PARTS = [
  'was created for another endpoint',
  'was created for an earlier definition of the endpoint, or for another search',
  'was created for other parameters, or for a key with other pins',
] as const;
const FROM_LINK = 'begin again without it, and take each next one from the Link header';

/** @param secret the same for all replicas */
export function createCursors(secret: Uint8Array) {
  const key = deriveSecret(secret, 'tailrace cursors');
  const digest = (text: string) => createHmac('sha256', key).update(text).digest();
  const sign = (payload: string) => digest(`cursor ${payload}`).subarray(0, MAC_BYTES);

  function partsOf(endpoint: Endpoint, values: ParameterValues): string[] {
    const sent = Object.entries(values).filter(([name]) => isOfQuestion(endpoint, name));
    const question = JSON.stringify(sent.toSorted(([a], [b]) => (a < b ? -1 : 1)));
    return [endpoint.id, endpoint.fileHash, question].map((text) =>
      digest(`part ${text}`).toString('base64url').slice(0, PART_CHARS),
    );
  }

  /** @throws TailraceError `invalid_parameter` if the text is not one that `createWriter` wrote */
  function open(text: string): readonly [parts: readonly unknown[], position: readonly unknown[]] {
    const [body = '', mac = '', ...rest] = text.length > CURSOR_CHARS_MAX ? [] : text.split('.');
    const payload = Buffer.from(body, 'base64url').toString();
    const sent = Buffer.from(mac, 'base64url');
    if (rest.length > 0 || sent.length !== MAC_BYTES || !timingSafeEqual(sent, sign(payload)))
      throw reject(`is cut or changed: it must be a cursor as this service sent it; ${FROM_LINK}`);
    return JSON.parse(payload) as [unknown[], unknown[]]; // signed: `createWriter` wrote it
  }

  return {
    /** Writes cursors of a question. */
    createWriter(endpoint: Endpoint, values: ParameterValues): (position: Position) => string {
      const parts = partsOf(endpoint, values);
      return (position) => {
        const payload = JSON.stringify([parts, position]);
        return `${Buffer.from(payload).toString('base64url')}.${sign(payload).toString('base64url')}`;
      };
    },
    /**
     * The position that a request continues from; `undefined`: the first page, or an endpoint without pages.
     *
     * @throws TailraceError `invalid_parameter`
     */
    read(endpoint: Endpoint, values: ParameterValues, raw: RawParameters): Position | undefined {
      const { pages } = endpoint;
      const text = pages === undefined ? undefined : raw[CURSOR_PARAMETER];
      if (pages === undefined || text === undefined || text.length === 0) return undefined;
      if (typeof text !== 'string') throw reject(`was sent ${text.length} times; send it once`);
      const [parts, position] = open(text);
      const own = partsOf(endpoint, values);
      const wrong = PARTS.find((_, i) => parts[i] !== own[i]);
      if (wrong !== undefined) throw reject(`${wrong}; ${FROM_LINK}`);
      if (!isPosition(pages, position)) throw reject(`${PARTS[1]}; ${FROM_LINK}`);
      return position;
    },
  };
}

/** Whether a value is one that the caller sent, or a pin: others follow from these, or from the clock. */
function isOfQuestion({ parameters }: Endpoint, name: string): boolean {
  return name.startsWith(PINNED_PREFIX) || parameters.some((parameter) => parameter.name === name);
}

const reject = (message: string) => rejectParameter(CURSOR_PARAMETER, message);
