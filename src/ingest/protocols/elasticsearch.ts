import { TailraceError } from '../../errors.ts';
import { isObject, tryParse } from '../../lib/json.ts';
import {
  type BodyLine,
  boundEvents,
  type CutOptions,
  createMarkCounter,
  type Format,
  linesOf,
  type WireEvent,
} from '../body-format.ts';
import { newEventId } from '../event.ts';
import type { Receipt } from '../rejected.ts';
import {
  findBasicKey,
  findCredentials,
  type Protocol,
  type ProtocolFailure,
  type ProtocolHead,
  type ProtocolReply,
} from './protocol.ts';

const BULK_TYPES = /^application\/(?:vnd\.elasticsearch\+)?(?:json|(?:x-)?ndjson) *(?:;|$)/i;

/** What clients read of a license, of a cluster's health and of a refresh: each its own members. */
const STATE = {
  license: { status: 'active', type: 'basic', uid: 'tailrace' },
  ...{ cluster_name: 'tailrace', status: 'green', timed_out: false, number_of_nodes: 1 },
  _shards: { total: 1, successful: 1, failed: 0 },
};

/** Templates and policies, which senders create before they send: Tailrace needs none. */
const SETUP_PATHS = ['_template', '_index_template', '_component_template'].map((name) => `/${name}/:name`);
const POLICY_PATHS = ['/_ilm/policy/:name', '/_ingest/pipeline/:name', '/_data_stream/:name'];

/** Clients of Elasticsearch work only with services that send it. */
const PRODUCT_HEADERS = { 'x-elastic-product': 'Elasticsearch' };

export const elasticsearch: Protocol = {
  headers: PRODUCT_HEADERS,
  findKey: (request) => findApiKey(request) ?? findBasicKey(request),
  events: {
    places: ['POST /_bulk', 'POST /:index/_bulk'],
    summary: 'Elasticsearch’s bulk API',
    id: 'send_bulk',
    bodies: [{ type: BULK_TYPES, shown: 'application/x-ndjson', format: 'elasticsearch-bulk' }],
    respond: (receipt, request) => ({ status: 200, type: typeFor(request), body: writeItems(receipt) }),
  },
  info: [
    info('GET', ['/_license', '/_cluster/health', '/:index/_refresh'], STATE),
    info('POST', ['/:index/_refresh'], STATE),
    info('GET', [...SETUP_PATHS, ...POLICY_PATHS], {}),
    info('PUT', [...SETUP_PATHS, ...POLICY_PATHS], { acknowledged: true }),
  ],
  reject,
};

function reject({ status, code, message }: ProtocolFailure): ProtocolReply {
  const cause = { type: code, reason: message };
  return { status, body: { error: { ...cause, root_cause: [cause] }, status } };
}

function info(method: 'GET' | 'POST' | 'PUT', paths: readonly string[], body: object) {
  const places = paths.map((path) => `${method} ${path}` as const);
  return { places, reply: (request: ProtocolHead) => ({ status: 200, type: typeFor(request), body }) };
}

/** Reads `Authorization: ApiKey`: base64 of `<id>:<key>`, or the key itself. */
function findApiKey(request: ProtocolHead): string | undefined {
  const credentials = findCredentials(request, 'ApiKey');
  if (credentials === undefined) return undefined;
  const decoded = Buffer.from(credentials, 'base64').toString();
  return /^[\x20-\x39\x3b-\x7e]*:([\x21-\x7e]+)$/.exec(decoded)?.[1] ?? credentials;
}

const STORED =
  ',"_version":1,"result":"created","_shards":{"total":1,"successful":1,"failed":0},' +
  '"_seq_no":0,"_primary_term":1,"status":201}}';

// Clients send a document with 429 again, and give up on others.
const LATER = [429, 'es_rejected_execution_exception'] as const;
const NEVER = [400, 'document_parsing_exception'] as const;
const CONFLICT = [409, 'version_conflict_engine_exception'] as const;

function writeItems({ echoes = [], rejectedItems }: Receipt): string {
  const rejected = new Map(rejectedItems.map((item) => [item.at, item]));
  const items = echoes.map((echo, at) => {
    const item = rejected.get(at);
    if (item === undefined) return `${echo}${STORED}`;
    const [status, type] = item.isOverQuota === true ? LATER : item.reason === REPEATED ? CONFLICT : NEVER;
    const error = JSON.stringify({ type, reason: `the document ${item.reason}` });
    return `${echo},"status":${status},"error":${error}}}`;
  });
  return `{"took":0,"errors":${rejectedItems.length > 0},"items":[${items.join(',')}]}`;
}

export const ELASTICSEARCH_FORMATS = {
  'elasticsearch-bulk': {
    cut(bytes, options) {
      const events = [...boundEvents(cutBulk(bytes, options), options)];
      return { events, count: events.length };
    },
    countMarks: createMarkCounter('{[,\n'),
  },
} as const satisfies Readonly<Record<string, Format>>;

/** The action before a document; `update` has a document, too, `delete` has none. */
interface Action {
  readonly name: string;
  readonly labels: { readonly index: string };
  /** What the response says of each of its documents, up to the id. */
  readonly echo: string;
  readonly id: string | undefined;
}

const ACTIONS = ['create', 'index', 'update', 'delete'];

const REPEATED = 'has the _id of an earlier document of this request, but events do not change';

/** Cuts a bulk request: a line with an action, then a line with its document. A bad document spoils only its item. */
function* cutBulk(bytes: Buffer, { index = '' }: CutOptions): Generator<WireEvent> {
  const lines = linesOf(bytes);
  const ids = new Set<string>();
  let last: { readonly line: Buffer; readonly action: Action } | undefined;
  for (let next = lines.next(); !next.done; next = lines.next()) {
    const { bytes: line } = next.value;
    // Most clients write the same action before each document.
    if (last === undefined || !last.line.equals(line)) last = { line, action: readAction(next.value, index) };
    const { action } = last;
    const document = action.name === 'delete' ? undefined : lines.next().value;
    yield toEvent(action, document, ids);
  }
}

/** @throws TailraceError `invalid_request`: without an action it is unknown which of the next lines are documents */
function readAction({ number, bytes }: BodyLine, fallback: string): Action {
  const value = tryParse(bytes.toString());
  const [[name = '', about] = [], ...others] = isObject(value) ? Object.entries(value) : [];
  if (!ACTIONS.includes(name) || others.length > 0 || !isObject(about)) {
    const message =
      `line ${number} of the body is not an action; send {"create":{}} or {"index":{}} and the ` +
      'document on the next line';
    throw new TailraceError('invalid_request', message);
  }
  const { _index: given, _id: id } = about;
  const index = typeof given === 'string' && given !== '' ? given : fallback;
  return {
    ...{ name, labels: { index }, echo: `{"${name}":{"_index":${JSON.stringify(index)},"_id":` },
    id: typeof id === 'string' || typeof id === 'number' ? String(id) : undefined,
  };
}

function toEvent(
  { name, labels, echo, id = newEventId() }: Action,
  document: BodyLine | undefined,
  ids: Set<string>,
): WireEvent {
  const item = { labels, echo: `${echo}${JSON.stringify(id)}` };
  if (name === 'delete' || name === 'update')
    return { rejected: `has the action ${name}, but events do not change; send create or index`, ...item };
  if (document === undefined) return { rejected: 'has no document on the next line', ...item };
  if (ids.has(id)) return { rejected: REPEATED, ...item };
  ids.add(id);
  return { line: document.bytes, documentId: id, ...item };
}

const COMPATIBLE = /application\/vnd\.elasticsearch\+json; ?compatible-with=(\d{1,2})\b/;

function typeFor({ headers }: ProtocolHead): string {
  const [, version] = COMPATIBLE.exec(String(headers['accept'])) ?? [];
  if (version === undefined) return 'application/json';
  return `application/vnd.elasticsearch+json;compatible-with=${version}`;
}

/** Whether the sender of a request for `/` is a client of Elasticsearch, not a browser. */
export function isElasticsearchClient(request: ProtocolHead): boolean {
  const accept = String(request.headers['accept']);
  if (accept.includes('text/html')) return false;
  return accept.includes('application/json') || namesElasticsearch(request);
}

function namesElasticsearch({ headers }: ProtocolHead): boolean {
  return (
    String(headers['accept']).includes('application/vnd.elasticsearch+json') ||
    /elastic|logstash|beat\b|fluent-bit/i.test(String(headers['user-agent']))
  );
}

/** A path with such a name is one of Elasticsearch's: no other path of the service has a name that begins with `_`. */
const OWN_PATH = /^\/(?:[^/]+\/)?_/;

/** Returns the response, in Elasticsearch's form, to a path of its API that is not served; `undefined` for other paths. */
export function rejectUnknownPath(
  path: string,
  request: ProtocolHead,
  { status, code }: ProtocolFailure,
): ProtocolReply | undefined {
  if (!OWN_PATH.test(path) && !namesElasticsearch(request)) return undefined;
  const message = `nothing is served at ${path}; documents are accepted at /_bulk and /<index>/_bulk`;
  return { ...reject({ status, code, message }), headers: PRODUCT_HEADERS };
}

/** What clients read at `/` before they send events: a version of which they know the protocol. */
export function describeProduct(request: ProtocolHead): ProtocolReply {
  return {
    status: 200,
    headers: PRODUCT_HEADERS,
    type: typeFor(request),
    body: {
      name: 'tailrace',
      cluster_name: 'tailrace',
      cluster_uuid: 'tailrace',
      version: {
        number: '9.0.0',
        lucene_version: '10.1.0',
        minimum_wire_compatibility_version: '8.18.0',
        minimum_index_compatibility_version: '8.0.0',
      },
      tagline: 'You Know, for Search',
    },
  };
}
