import { type CutOptions, countJsonMarks, createMarkCounter, type Format } from '../../body-format.ts';
import type { DocumentShape } from '../../document/plan.ts';
import type { SharedMembers, WireDocument } from '../../document/read.ts';
import { readString } from '../../json/grammar.ts';
import { collectEvents, cutDocuments, lineEvents, readShared } from '../event-text.ts';

export const DATADOG_FORMATS = {
  'datadog-json': {
    cut: (bytes, options) => cutDocuments(bytes, readDocument(options), options),
    countMarks: countJsonMarks,
  },
  'datadog-lines': {
    cut(bytes, options) {
      const document = readDocument(options);
      return collectEvents(
        lineEvents(bytes, (line) => ({ line: Buffer.from(`{"message":${line}}`), document })),
        options,
      );
    },
    countMarks: createMarkCounter('\n'),
  },
} as const satisfies Readonly<Record<string, Format>>;

/** Members that the query string may say for all events. */
export const SHARED = ['ddsource', 'ddtags', 'hostname', 'service'] as const;

/** The context's name of a time for events that have none. */
export const SENT_AT = 'sent at';

const TIMES = ['timestamp', '@timestamp', 'date'];

const SHAPE: DocumentShape = { timestamp: TIMES, message: ['message'] };
const TAGS = { name: 'ddtags', bytes: Buffer.from('ddtags') };

/** Reads what the request says for all events once: a query string may be long, and a body have many events. */
function readDocument({ context }: Pick<CutOptions, 'context'>): WireDocument {
  const given = SHARED.filter((name) => context[name] !== undefined);
  const shared = readShared(JSON.stringify(Object.fromEntries(given.map((name) => [name, context[name]]))));
  const { ddtags, [SENT_AT]: sentAt } = context;
  const tags = ddtags === undefined ? undefined : readTags(ddtags);
  let last: { readonly from: string; readonly tags: SharedMembers } | undefined;
  return {
    ...{ shape: SHAPE, defaults: { timestamp: sentAt && JSON.stringify(sentAt) } },
    ...(given.length > 0 && { shared: { ...shared, chars: shared.chars + (tags?.chars ?? 0) } }),
    derived: {
      from: TAGS,
      write(from) {
        if (from === undefined || from === 'null') return tags;
        if (!from.startsWith('"')) return undefined;
        if (last?.from !== from) last = { from, tags: readTags(readString(from)) };
        return last.tags;
      },
    },
  };
}

/** Reads tags such as `env:prod,version:2` as the map `tags`; one without a colon is empty. */
function readTags(tags: string): SharedMembers {
  const pairs = tags.split(',').flatMap((tag): [string, string][] => {
    const [name = '', ...value] = tag.trim().split(':');
    return name === '' ? [] : [[name, value.join(':')]];
  });
  return readShared(JSON.stringify({ tags: Object.fromEntries(pairs) }));
}
