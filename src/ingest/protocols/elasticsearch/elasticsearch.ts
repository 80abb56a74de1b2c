import type { Receipt } from '../../receive.ts';
import {
  findBasicKey,
  findCredentials,
  type InfoRoute,
  type Protocol,
  type ProtocolRequest,
} from '../protocol.ts';
import { PRODUCT_HEADERS, typeFor } from './info.ts';

const BULK_TYPES = /^application\/(?:vnd\.elasticsearch\+)?(?:json|(?:x-)?ndjson)(?:;|$)/i;

const SUMMARY = 'Elasticsearch';

/** What clients read of a license, of a cluster's health and of a refresh: each its own members. */
const STATE = {
  license: { status: 'active', type: 'basic', uid: 'tailrace' },
  ...{ cluster_name: 'tailrace', status: 'green', timed_out: false, number_of_nodes: 1 },
  _shards: { total: 1, successful: 1, failed: 0 },
};

// Templates and policies, which senders create before they send: Tailrace needs none.
const SETUP_PATHS = [
  ['/_template/:name', '/_index_template/:name', '/_component_template/:name'],
  ['/_ilm/policy/:name', '/_ingest/pipeline/:name', '/_data_stream/:name'],
];

/** Elasticsearch's bulk API. */
export const elasticsearch: Protocol = {
  docs: {
    title: 'Elasticsearch',
    tested: '@elastic/elasticsearch, pino-elasticsearch, rsyslog (omelasticsearch)',
    key: '`Authorization: ApiKey`, or the password of `Basic`',
    timestamp: '`@timestamp`, else `timestamp`',
    message: '`message`',
    project: '`project`',
    metadata: 'the other members of the document',
    labels: '`index`',
    answers: '200 with the result of each document',
  },
  headers: PRODUCT_HEADERS,
  findKey: (request) => findApiKey(request) ?? findBasicKey(request),
  events: [
    {
      method: 'POST',
      path: ['/_bulk', '/:index/_bulk'],
      summary: 'Elasticsearch’s bulk API',
      id: 'send_bulk',
      bodies: [{ type: BULK_TYPES, shown: 'application/x-ndjson', format: 'elasticsearch-bulk' }],
      context: ({ params }) => ({ index: params['index'] ?? '' }),
      respond: (receipt, request) => ({
        status: 200,
        type: typeFor(request),
        body: writeItems(receipt),
      }),
    },
  ],
  info: [
    setup('GET', ['/_license', '/_cluster/health', '/:index/_refresh'], (request) => ok(request, STATE)),
    setup('POST', ['/:index/_refresh'], (request) => ok(request, STATE)),
    ...SETUP_PATHS.flatMap((path) => [
      setup('GET', path, (request) => ok(request, {})),
      setup('PUT', path, (request) => ok(request, { acknowledged: true })),
    ]),
  ],
  refuse: ({ status, code, message }) => ({
    status,
    body: { error: { type: code, reason: message, root_cause: [{ type: code, reason: message }] }, status },
  }),
};

function setup(method: InfoRoute['method'], path: readonly string[], reply: InfoRoute['reply']): InfoRoute {
  return { method, path, summary: SUMMARY, isOpen: false, reply };
}

function ok(request: ProtocolRequest, body: object) {
  return { status: 200, type: typeFor(request), body };
}

/** Reads `Authorization: ApiKey`: base64 of `<id>:<key>`, or the key itself. */
function findApiKey(request: Pick<ProtocolRequest, 'headers'>): string | undefined {
  const credentials = findCredentials(request, 'ApiKey');
  if (credentials === undefined) return undefined;
  const decoded = Buffer.from(credentials, 'base64').toString();
  return /^[\x20-\x39\x3b-\x7e]*:([\x21-\x7e]+)$/.exec(decoded)?.[1] ?? credentials;
}

const STORED =
  ',"_version":1,"result":"created","_shards":{"total":1,"successful":1,"failed":0},"_seq_no":0,"_primary_term":1,"status":201}}';

/** Writes the result of each document, in their order. */
function writeItems({ echoes = [], refusals }: Receipt): string {
  const reasons = new Map(refusals.map(({ at, reason }) => [at, reason]));
  const items = echoes.map((echo, at) => {
    const reason = reasons.get(at);
    if (reason === undefined) return `${echo}${STORED}`;
    const error = JSON.stringify({ type: 'document_parsing_exception', reason: `the document ${reason}` });
    return `${echo},"status":400,"error":${error}}}`;
  });
  return `{"took":0,"errors":${refusals.length > 0},"items":[${items.join(',')}]}`;
}
