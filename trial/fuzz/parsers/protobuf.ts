/** One length-delimited field, as latin1. */
function field(id: number, value: string): string {
  let length = '';
  let rest = value.length;
  for (; rest > 0x7f; rest = Math.floor(rest / 0x80)) length += String.fromCharCode((rest % 0x80) + 0x80);
  return String.fromCharCode(id * 8 + 2) + length + String.fromCharCode(rest) + value;
}

// Fields of OTLP's messages (ingest/otlp/schema.ts).
const LIST = { values: 1, arrayValue: 5 };
const MAP = { values: 1, value: 2, kvlistValue: 6 };
const LEVELS_MAX = 6_000;

/** A record whose body is a list in a list in a list, or a map in a map; right lengths, so that all of it is read. */
export function nestedValues(kind: 'list' | 'map'): (chars: number) => string {
  return (chars) => {
    let value = '';
    for (let level = 0; value.length < chars - 100 && level < LEVELS_MAX; level++)
      value =
        kind === 'list'
          ? field(LIST.arrayValue, field(LIST.values, value))
          : field(MAP.kvlistValue, field(MAP.values, field(MAP.value, value)));
    const record = field(5, value);
    return field(1, field(2, field(2, record)));
  };
}
