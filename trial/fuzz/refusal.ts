import { ERROR_CODES } from '../../src/errors.ts';

const isOfElasticsearch = (body: string, status: number) => {
  const { error, ...rest } = JSON.parse(body) as { error: { root_cause?: unknown }; status: unknown };
  const isTyped = hasTypes(error, { type: 'string', reason: 'string' });
  return rest.status === status && isTyped && Array.isArray(error.root_cause);
};
/** What the senders of other services expect at their own paths. */
const OF_PROTOCOLS: readonly (readonly [path: RegExp, isShape: (body: string, status: number) => boolean])[] =
  [
    [/^\/loki/, (body) => body !== '' && !body.includes('\n    at ')],
    [/^\/(_|[^/]*\/_|$)/, isOfElasticsearch],
  ];

/** Whether a response with an error has a body that docs/errors.md, or the protocol of its path, promises. */
export function isRefusal(path: string, status: number, body: string): boolean {
  return isPromised(status, body) || isOfProtocol(path, status, body);
}

function isOfProtocol(path: string, status: number, body: string): boolean {
  try {
    return OF_PROTOCOLS.some(([own, isShape]) => own.test(path) && isShape(body, status));
  } catch {
    return false;
  }
}

function hasTypes(value: unknown, types: Readonly<Record<string, string>>): boolean {
  const members = value as Readonly<Record<string, unknown>>;
  return Object.entries(types).every(([name, type]) => typeof members[name] === type);
}

/** The one shape of errors, the list of reasons that senders of events get with 406, or an error of the agents' protocol. */
function isPromised(status: number, body: string): boolean {
  try {
    const parsed = JSON.parse(body) as {
      message?: unknown;
      jsonrpc?: unknown;
      error?: { code?: string | number; message?: unknown; status?: unknown; errors?: unknown };
    };
    if (status === 406 && Array.isArray(parsed.message)) return true;
    const { code = '', message, status: told, errors } = parsed.error ?? {};
    if (parsed.jsonrpc === '2.0') return typeof code === 'number' && typeof message === 'string';
    const known = Object.entries(ERROR_CODES).some(
      ([name, entry]) => name === code && entry.status === status,
    );
    return known && told === status && typeof message === 'string' && Array.isArray(errors);
  } catch {
    return false;
  }
}
