import type { SourceView } from '../../../../src/management/view.ts';
import { ownMember } from '../../format/own.ts';
import type { Language } from '../../ui/code.tsx';

export interface Snippet {
  readonly id: 'curl' | 'vector' | 'opentelemetry' | 'pino';
  readonly label: string;
  readonly language: Language;
  readonly text: string;
  /** What the reader still has to change or know. */
  readonly note: string;
}

interface Target {
  /** URL of the service: `http://127.0.0.1:4000`. */
  readonly origin: string;
  readonly source: Pick<SourceView, 'id' | 'name' | 'columns'>;
  /** The project of the events. */
  readonly project: string;
}

/**
 * How to send events to a source (docs/ingest.md). Snippets never contain the key: people share them.
 *
 * Names of sources have letters, digits, dots, hyphens and underscores, so they need no encoding in a URL.
 */
export function createSnippets({ origin, source, project }: Target): Snippet[] {
  const { id, name, columns } = source;
  const url = `${origin}/api/logs?source_name=${name}`;
  const events = JSON.stringify([createExample(columns, project)], null, 2);
  return [
    {
      id: 'curl',
      label: 'curl',
      language: 'bash',
      text: `curl -s -H "X-API-KEY: $TAILRACE_KEY" -H "Content-Type: application/json" \\
  ${quoteShell(url)} \\
  -d ${quoteShell(events)}`,
      note: 'Without a timestamp an event gets the time of arrival. Metadata is returned as sent.',
    },
    {
      id: 'vector',
      label: 'Vector',
      language: 'yaml',
      text: `sinks:
  tailrace:
    type: http
    inputs: [my_logs]
    method: post
    uri: ${JSON.stringify(url)}
    encoding: { codec: json }
    compression: gzip
    request:
      headers:
        x-api-key: \${TAILRACE_KEY}
        x-project: ${JSON.stringify(project)}`,
      note: 'Put the names of your Vector sources or transforms into inputs. The project applies to events that do not name one.',
    },
    {
      id: 'opentelemetry',
      label: 'OpenTelemetry Collector',
      language: 'yaml',
      text: `exporters:
  otlphttp/tailrace:
    logs_endpoint: ${JSON.stringify(`${origin}/v1/logs`)}
    compression: gzip
    headers:
      X-API-KEY: \${env:TAILRACE_KEY}
      X-Source: ${JSON.stringify(name)}
      X-Project: ${JSON.stringify(project)}

service:
  pipelines:
    logs:
      receivers: [otlp]
      exporters: [otlphttp/tailrace]`,
      note: 'The attribute tailrace.project of a record or resource overrides the project.',
    },
    {
      id: 'pino',
      label: 'pino',
      language: 'javascript',
      text: `// npm install pino pino-logflare
import { pino } from 'pino';

const transport = pino.transport({
  target: 'pino-logflare',
  options: {
    apiBaseUrl: ${JSON.stringify(origin)},
    apiKey: process.env.TAILRACE_KEY,
    sourceToken: ${JSON.stringify(id)}, // ${name}
  },
});
const logger = pino({ base: { project: ${JSON.stringify(project)} } }, transport);

logger.info({ order: 1 }, 'it works');`,
      note: 'The fields of a line, such as its level, become metadata.',
    },
  ];
}

const EXAMPLES: Readonly<Record<string, unknown>> = { integer: 200, number: 1.5, boolean: true };
const COLUMNS_SHOWN = 4;

interface Members {
  [name: string]: unknown;
}

/** An event with values at the paths of some of the source's columns. */
function createExample(columns: SourceView['columns'], project: string): Members {
  const event = Object.assign(createMembers(), {
    project,
    event_message: 'it works',
    metadata: createMembers(),
  });
  for (const { name, type, path } of columns.slice(0, COLUMNS_SHOWN)) {
    put(event, path, ownMember(EXAMPLES, type) ?? `example ${name.replaceAll('_', ' ')}`);
  }
  return event;
}

/** Without a prototype: `__proto__` is a name like any other. */
function createMembers(): Members {
  return Object.create(null) as Members;
}

function put(target: Members, [first = '', ...rest]: readonly string[], value: unknown): void {
  if (rest.length === 0) {
    if (!Object.hasOwn(target, first)) target[first] = value;
    return;
  }
  const inner = Object.hasOwn(target, first) ? target[first] : createMembers();
  if (typeof inner !== 'object' || inner === null) return; // another column has the whole value
  target[first] = inner;
  put(inner as Members, rest, value); // created above, or by an earlier column
}

/** Quotes for a shell, which leaves everything within single quotes as it is. */
export function quoteShell(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}
