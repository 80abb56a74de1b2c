import { deflateSync, gzipSync } from 'node:zlib';
import type { Random } from '../../../src/lib/random.ts';
import { isRefusal } from '../refusal.ts';
import { createWire, type Exchange } from '../wire.ts';
import { mutate } from './junk.ts';
import type { FuzzedSender } from './sender.ts';
import type { HttpDecoder } from './table.ts';

const ANSWER_MS_MAX = 20_000;
const PACKERS = { gzip: gzipSync, deflate: deflateSync } as const;
// Larger than the service under test decompresses.
const BOMB = gzipSync(Buffer.alloc(30_000_000, ' '));

/** Sends bodies to a decoder over one connection at a time. */
export function createHttpSender(
  decoder: HttpDecoder,
  { url, key }: { readonly url: string; readonly key: string },
): FuzzedSender {
  const wire = createWire({ port: Number(new URL(url).port), timeoutMs: ANSWER_MS_MAX });
  return {
    async send(random) {
      const { bytes, encoding } = pack(decoder, random);
      const lines = [
        ...[`POST ${decoder.path} HTTP/1.1`, 'host: 127.0.0.1', `x-api-key: ${key}`],
        ...[`content-type: ${decoder.type}`, `content-length: ${bytes.length}`],
        ...(encoding === undefined ? [] : [`content-encoding: ${encoding}`]),
      ];
      const head = Buffer.from(`${lines.join('\r\n')}\r\n\r\n`);
      const exchange = await wire.exchange(Buffer.concat([head, bytes]), { isHead: false, toEnd: false });
      const fault = findFault(decoder, exchange);
      const status = exchange.answer?.status ?? 'closed';
      return {
        outcome: String(status),
        ...(fault !== undefined && { fault: `${fault}, for ${show(bytes)}` }),
      };
    },
    async close() {
      wire.close();
    },
  };
}

function pack({ make, isPacked = false }: HttpDecoder, random: Random) {
  const bytes = mutate(make(random), random);
  if (isPacked || !random.chance(0.1)) return { bytes };
  if (random.chance(0.005)) return { bytes: BOMB, encoding: 'gzip' };
  const encoding = random.pick(['gzip', 'deflate'] as const);
  const packed = PACKERS[encoding](bytes);
  return { bytes: random.chance(0.3) ? mutate(packed, random) : packed, encoding };
}

// Too large, of another type or encoding, invalid; later, since the service is busy.
const REFUSALS = [400, 413, 503];

function findFault({ path, ok, isAnswer }: HttpDecoder, { answer }: Exchange): string | undefined {
  if (answer === undefined) return 'the connection was closed without an answer';
  const { status, head, body } = answer;
  const wrong = `${status} ${JSON.stringify(body.slice(0, 500))}`;
  if (status === ok) return isTrue(() => isAnswer(body)) ? undefined : wrong;
  if (!REFUSALS.includes(status) || !isRefusal(path, status, body)) return wrong;
  return status === 503 && !/^retry-after: \d+$/im.test(head) ? `${wrong} without Retry-After` : undefined;
}

function isTrue(check: () => boolean): boolean {
  try {
    return check();
  } catch {
    return false;
  }
}

/** The start of an input, with its length. */
export function show(bytes: Buffer): string {
  return `${bytes.length} bytes ${JSON.stringify(bytes.toString('latin1', 0, 700))}`;
}
