import { isUtf8 } from 'node:buffer';
import { createHmac, timingSafeEqual } from 'node:crypto';
import { TailraceError } from '../../errors.ts';
import { headerOf } from '../../lib/header.ts';
import { countJsonMarks, createMarkCounter, type Format, linesOf, type WireEvent } from '../body-format.ts';
import type { DocumentShape } from '../document.ts';
import { collectEvents, cutDocuments } from './event-text.ts';
import { type Protocol, type ProtocolRequest, type ProtocolSettings, reasonsText } from './protocol.ts';

const PATH = '/drains/vercel';

/** Vercel's log drains. */
export const vercel: Protocol = {
  docs: {
    title: 'Vercel log drains',
    tested: 'its documented bodies',
    key:
      'with `?verify=` the value that Vercel shows; a custom header of the drain; also ' +
      '`x-vercel-signature` with [`TAILRACE_VERCEL_SECRET`](settings.md#tailrace_vercel_secret)',
    timestamp: '`timestamp`',
    message: '`message`',
    project: 'none: pin the key, or send `X-Project`',
    metadata: 'the other members, such as `source`, `projectId`, `proxy`',
    labels: '`projectName`, `source`, `host`, other members',
    answers: '200 `{}`',
  },
  findKey: () => undefined,
  events: [
    {
      method: 'POST',
      path: PATH,
      summary: 'Vercel’s log drains',
      id: 'send_vercel',
      bodies: [
        { type: /^application\/json(?:;|$)/i, shown: 'application/json', format: 'vercel-json' },
        {
          type: /^application\/(?:x-)?ndjson(?:;|$)/i,
          shown: 'application/x-ndjson',
          format: 'vercel-lines',
        },
      ],
      verify: verifySignature,
      respond: (receipt, request) => ({
        ...(receipt.refused === 0
          ? { status: 200, body: {} }
          : { status: 400, body: { error: reasonsText(receipt) } }),
        headers: ownershipOf(request),
      }),
    },
  ],
  info: [
    {
      method: 'GET',
      path: PATH,
      summary: 'proves to Vercel who owns the address',
      isOpen: true,
      reply: (request) => ({ status: 200, headers: ownershipOf(request), body: {} }),
    },
  ],
  refuse: ({ status, message }) => ({ status, body: { error: message } }),
};

/** Vercel adds a drain only if its address answers with the value that Vercel has shown: it is in the address. */
function ownershipOf({ query }: ProtocolRequest): Readonly<Record<string, string>> {
  const value = query['verify'];
  return typeof value === 'string' && /^[\w-]{1,200}$/.test(value) ? { 'x-vercel-verify': value } : {};
}

/** @throws TailraceError `forbidden` */
function verifySignature(request: ProtocolRequest, bytes: Buffer, { vercelSecret }: ProtocolSettings): void {
  if (vercelSecret === '') return;
  const expected = createHmac('sha1', vercelSecret).update(bytes).digest();
  const given = Buffer.from(headerOf(request, 'x-vercel-signature') ?? '', 'hex');
  if (given.length === expected.length && timingSafeEqual(given, expected)) return;
  throw new TailraceError(
    'forbidden',
    'x-vercel-signature is missing or not that of the body; TAILRACE_VERCEL_SECRET must be the secret of the drain',
  );
}

export const VERCEL_FORMATS = {
  'vercel-json': {
    cut: (bytes, options) => cutDocuments(bytes, DOCUMENT, options),
    countMarks: countJsonMarks,
  },
  'vercel-lines': {
    cut: (bytes, options) => collectEvents(lineEvents(bytes), options),
    countMarks: createMarkCounter('{[,\n'),
  },
} as const satisfies Readonly<Record<string, Format>>;

const SHAPE: DocumentShape = { id: 'id', timestamp: ['timestamp'], message: ['message'] };
const DOCUMENT = { shape: SHAPE };

function* lineEvents(bytes: Buffer): Generator<WireEvent> {
  const isWhole = isUtf8(bytes);
  for (const { bytes: line } of linesOf(bytes))
    yield { line, document: DOCUMENT, isRepaired: !isWhole && !isUtf8(line) };
}
