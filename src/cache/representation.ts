import { hash } from 'node:crypto';
import { promisify } from 'node:util';
import { brotliCompress, constants, gzip, zstdCompress } from 'node:zlib';
import type { Answer } from '../query/run.ts';

/** Content-Encodings that an answer may have, best first. */
export const ENCODINGS = ['zstd', 'br', 'gzip', 'identity'] as const;

export type Encoding = (typeof ENCODINGS)[number];

/** An answer as it goes over the wire. */
export interface Representation {
  readonly encoding: Encoding;
  readonly body: Buffer;
  /** The same bytes, one to a character (latin1), where they are few: `undefined` for more than `TEXT_BYTES_MAX`. */
  readonly text: string | undefined;
  /** Strong: other bytes have another one, also where only the encoding differs. With its quotation marks. */
  readonly etag: string;
}

/** Makes each representation of an answer once, and keeps it for as long as the answer itself is kept. */
export interface Representations {
  /** @param encoding one that the caller takes; small answers go out as they are all the same */
  get(answer: Answer, encoding: Encoding): Representation | Promise<Representation>;
  /** The same where it is made already. */
  find(answer: Answer, encoding: Encoding): Representation | undefined;
}

// Below it a packet is sent anyway, and compressing costs more than it saves.
const PLAIN_BYTES_MAX = 1_024;

/**
 * A compressed form is kept where it is at most this share of the answer, which JSON is by far: what the cache counts for an
 * answer can then include them all, made or not.
 */
const KEPT_SHARE_MAX = 0.25;
export const KEPT_SHARES_MAX = KEPT_SHARE_MAX * (ENCODINGS.length - 1);

const COMPRESS: Readonly<Record<Exclude<Encoding, 'identity'>, (body: Buffer) => Promise<Buffer>>> = {
  gzip: (body) => promisify(gzip)(body),
  // The default, 11, takes a hundred times as long for a few percent.
  br: (body) => promisify(brotliCompress)(body, { params: { [constants.BROTLI_PARAM_QUALITY]: 5 } }),
  zstd: (body) => promisify(zstdCompress)(body),
};

// Node copies longer texts once more on their way to the socket.
const TEXT_BYTES_MAX = 16_000;
/** What the texts of an answer's forms may take beside the forms. */
export const TEXTS_BYTES_MAX = TEXT_BYTES_MAX * ENCODINGS.length;

function createForm(encoding: Encoding, body: Buffer, etag: string): Representation {
  return { encoding, body, text: body.length <= TEXT_BYTES_MAX ? body.toString('latin1') : undefined, etag };
}

type Made = Map<Encoding, Representation | Promise<Representation>>;

function encodingOf({ body }: Answer, wanted: Encoding): Encoding {
  return body.length > PLAIN_BYTES_MAX ? wanted : 'identity';
}

export function createRepresentations(): Representations {
  // Goes with the answer: nothing has to be thrown away by hand.
  const made = new WeakMap<Answer, Made>();

  function formsOf(answer: Answer): Made {
    const known = made.get(answer);
    if (known !== undefined) return known;
    const etag = `"${hash('sha256', answer.body, 'base64url').slice(0, 22)}"`;
    const forms: Made = new Map([['identity', createForm('identity', answer.body, etag)]]);
    made.set(answer, forms);
    return forms;
  }

  /** Concurrent callers wait for one compression; one that is too large to be kept is sent to them and forgotten. */
  async function compress(forms: Made, plain: Representation, encoding: Exclude<Encoding, 'identity'>) {
    const etag = plain.etag.replace(/"$/, `-${encoding}"`);
    try {
      const body = await COMPRESS[encoding](plain.body);
      const form = createForm(encoding, body, etag);
      if (body.length > plain.body.length * KEPT_SHARE_MAX) forms.delete(encoding);
      else forms.set(encoding, form);
      return form;
    } catch (error) {
      forms.delete(encoding);
      throw error;
    }
  }

  return {
    find(answer, wanted) {
      const form = formsOf(answer).get(encodingOf(answer, wanted));
      return form instanceof Promise ? undefined : form;
    },
    get(answer, wanted) {
      const encoding = encodingOf(answer, wanted);
      const forms = formsOf(answer);
      const known = forms.get(encoding);
      if (known !== undefined) return known;
      const plain = forms.get('identity') as Representation; // set by formsOf, before any other
      const form = encoding === 'identity' ? plain : compress(forms, plain, encoding);
      forms.set(encoding, form);
      return form;
    },
  };
}
