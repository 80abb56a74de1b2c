import { Type } from 'typebox';

/** A link from a value of an event to a page elsewhere, which the console offers. */
export interface SourceLink {
  readonly label: string;
  /** The field whose value has the link, as a search names it. */
  readonly field: string;
  /** `{value}` stands for the value, `{…}` for another field of the event; both are encoded. */
  readonly url: string;
}

const LINKS_MAX = 32;
// Names joined by dots, as in a search (docs/search.md).
const NAME = String.raw`(?:"(?:[^"\\]|\\.)*"|[^\s()":.*]+)`;
// The host is fixed: a value of an event must not choose where a link leads.
const URL = String.raw`^https?://[A-Za-z0-9._~:\[\]-]+([/?#][^\s<>"]*)?$`;

/** `links` of a source's file. */
export const LINKS = Type.Array(
  Type.Object(
    {
      label: Type.String({ minLength: 1, maxLength: 60, expected: 'a string of 1 to 60 characters' }),
      field: Type.String({
        maxLength: 300,
        pattern: `^${NAME}(?:\\.${NAME})*$`,
        expected: 'the name of a field as a search writes it, such as trace_id or request.path',
      }),
      url: Type.String({
        maxLength: 2_000,
        pattern: URL,
        expected:
          'an address such as https://traces.example.com/trace/{value}, which begins with http or ' +
          'https and has {…} only behind the host',
      }),
    },
    {
      additionalProperties: false,
      expected: '{ label, field, url }, such as { label: Trace, field: trace_id, url: "https://…/{value}" }',
    },
  ),
  { maxItems: LINKS_MAX, expected: `a list of at most ${LINKS_MAX} { label, field, url }` },
);
