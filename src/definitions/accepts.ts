import { type Static, Type } from 'typebox';

/** The protocols whose events sources may accept, as src/ingest/protocols/ implements them. */
export const PROTOCOL_NAMES = ['loki', 'elasticsearch'] as const;

export type ProtocolName = (typeof PROTOCOL_NAMES)[number];

/** Every protocol whose events may be accepted: OTLP has its own routes. */
const ACCEPTED = [...PROTOCOL_NAMES, 'otlp'] as const;

export type AcceptedProtocol = (typeof ACCEPTED)[number];

/** The name of the source for events that no other source accepts. */
export const GENERAL_SOURCE = 'logs';

const VALUE = { minLength: 1, maxLength: 200 };
const EXPECTED = 'a string that is not empty, or a list of them; a * at the end stands for any text';
const ACCEPT_FIELDS = '{ protocol, label, equals }, such as { protocol: loki, label: app, equals: gateway }';

/** `accepts` of a source's file. */
export const ACCEPTS = Type.Array(
  Type.Object(
    {
      protocol: Type.Enum([...ACCEPTED], { expected: `one of ${ACCEPTED.join(', ')}` }),
      label: Type.String({ ...VALUE, expected: 'the name of a label, such as app' }),
      equals: Type.Union(
        [Type.String(VALUE), Type.Array(Type.String(VALUE), { minItems: 1, maxItems: 32 })],
        {
          expected: EXPECTED,
        },
      ),
    },
    { additionalProperties: false, expected: ACCEPT_FIELDS },
  ),
  { maxItems: 32, expected: `a list of at most 32 ${ACCEPT_FIELDS}` },
);

/** A rule by which a source accepts events of a protocol that name no source. */
export interface Accept {
  readonly protocol: AcceptedProtocol;
  readonly label: string;
  /** Texts of the label; one that ends with `*` is the beginning of the text. */
  readonly equals: readonly string[];
}

export function createAccepts(accepts: Static<typeof ACCEPTS> = []): readonly Accept[] {
  return accepts.map(({ protocol, label, equals }) => ({
    ...{ protocol, label },
    equals: typeof equals === 'string' ? [equals] : equals,
  }));
}

/** Whether a rule accepts an event with these labels. */
export function accepts({ label, equals }: Accept, labels: Readonly<Record<string, unknown>>): boolean {
  const value = Object.hasOwn(labels, label) ? labels[label] : undefined;
  if (typeof value !== 'string') return false;
  return equals.some((text) => (text.endsWith('*') ? value.startsWith(text.slice(0, -1)) : value === text));
}
