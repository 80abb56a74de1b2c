/** The part of an OpenAPI document that is used here. */
export interface OpenApi {
  readonly paths: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
  /** `responses`: those of the errors. */
  readonly components: { readonly responses: Readonly<Record<string, { readonly description: string }>> };
}

const ENDPOINT_PATH = '/api/endpoints/query/';
const POST_NOTE =
  'POST takes the parameters as a JSON body, `{"project":"aurora"}`, for values that are too long for a URL.';
const EVENTS_PATH = '/api/logs';
const EVENTS_ALIAS = /^\/(api\/)?(logs|events)(\/(json|vector))?$/;
// Errors have one body, so one of them shows it.
const ERROR_WITH_BODY = 'Error400';
const EVENTS_NOTE = 'Also at `/logs` and `/api/events`, each also with the suffix `/json` or `/vector`.';

/**
 * Reduces the document to one operation per endpoint, its GET, and one per way of sending events. The others take the same
 * parameters and have the same responses, so the description lists them. The body of errors is listed once, too.
 */
export function listOnce(document: OpenApi): OpenApi {
  const paths = Object.entries(document.paths).flatMap(([path, item]) => {
    if (path.startsWith(ENDPOINT_PATH)) return [[path, { get: withNote(item['get'], POST_NOTE) }]];
    if (path === EVENTS_PATH) return [[path, { post: withNote(item['post'], EVENTS_NOTE) }]];
    return EVENTS_ALIAS.test(path) ? [] : [[path, item]];
  });
  const errors = Object.entries(document.components.responses).map(([name, response]) =>
    name === ERROR_WITH_BODY ? [name, response] : [name, { description: response.description }],
  );
  const components = { ...document.components, responses: Object.fromEntries(errors) };
  return { ...document, components, paths: Object.fromEntries(paths) };
}

function withNote(operation: unknown, note: string): unknown {
  if (typeof operation !== 'object' || operation === null) return operation;
  const { description = '' } = operation as { readonly description?: string }; // as the service writes it
  return { ...operation, description: `${description}\n\n${note}` };
}
