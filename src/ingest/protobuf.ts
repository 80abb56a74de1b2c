import { createRequire } from 'node:module';
import type protobuf from 'protobufjs/light.js';
import { malformed } from './body-format.ts';

/** Message → field → [number, type]; before the type `repeated` if there may be many, `map` for names with values. */
export type Messages = Readonly<Record<string, Readonly<Record<string, readonly [number, string]>>>>;

// So that an empty text differs from a missing one. Of a `oneof`, protobufjs would delete all other fields of each value,
// which makes its object several times as slow.
const EXPLICIT = { features: { field_presence: 'EXPLICIT' } };

const NOT_ASCII = /[^\0-\x7f]/;
const load = createRequire(import.meta.url);
let library: ReturnType<typeof openLibrary> | undefined;

/** Loads the library: a service that is sent no protobuf starts faster without it. */
function openLibrary() {
  const { Reader, Root } = load('protobufjs/light.js') as typeof protobuf; // its own types

  /** Reads texts as slices of one text of all bytes: decoding each by itself takes several times as long. */
  class TextReader extends Reader {
    readonly #text: string;
    readonly #bytes: Buffer;

    constructor(bytes: Uint8Array) {
      super(bytes);
      this.#bytes = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
      this.#text = this.#bytes.toString('latin1');
    }

    override stringVerify(): string {
      return this.string();
    }

    override string(): string {
      const length = this.size();
      const start = this.pos;
      const end = start + length;
      if (end > this.len) throw new RangeError(`a text of ${length} bytes ends after its message`);
      this.pos = end;
      const text = this.#text.slice(start, end);
      if (!NOT_ASCII.test(text)) return text;
      return this.#bytes.toString('utf8', start, end);
    }
  }
  return { Root, TextReader };
}

export type TypeOf = (name: string) => protobuf.Type;

/** Describes the types of a protocol, created when first needed. A missing field is `undefined`, unless it is repeated. */
export function createMessages(messages: Messages): TypeOf {
  let root: protobuf.Root | undefined;
  return (name) => {
    root ??= createRoot(messages);
    return root.lookupType(name);
  };
}

function createRoot(messages: Messages): protobuf.Root {
  const nested = Object.entries(messages).map(([name, fields]) => {
    const entries = Object.entries(fields).map(([field, [id, type]]) => {
      const [, form, plain = ''] = /^(repeated |map )?(.*)/.exec(type) ?? [];
      const own = { id, type: plain };
      if (form === undefined) return [field, { ...own, options: EXPLICIT }];
      return [field, form === 'map ' ? { ...own, keyType: 'string' } : { ...own, rule: 'repeated' }];
    });
    return [name, { fields: Object.fromEntries(entries) }];
  });
  library ??= openLibrary();
  const root = library.Root.fromJSON({ nested: Object.fromEntries(nested) });
  root.resolveAll();
  for (const name of Object.keys(messages)) {
    const { ctor, fieldsArray } = root.lookupType(name);
    // Otherwise it would be the default of its type, such as an empty text.
    for (const field of fieldsArray) ctor.prototype[field.name] = undefined;
  }
  return root;
}

/** Reads a message, with U+FFFD for bytes of its texts that are not UTF-8. @throws TailraceError `invalid_request` */
export function readMessage(type: protobuf.Type, bytes: Uint8Array): unknown {
  library ??= openLibrary();
  try {
    return type.decode(new library.TextReader(bytes));
  } catch (cause) {
    throw malformed('protobuf', cause);
  }
}
