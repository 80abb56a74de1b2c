import { findBasicKey, type Protocol, reasonsText } from '../protocol.ts';

const TEXT = 'text/plain; charset=utf-8';

/** Loki's push API. */
export const loki: Protocol = {
  docs: {
    title: 'Loki',
    tested: 'pino-loki, winston-loki',
    key: 'password of `Authorization: Basic`',
    timestamp: 'time of the entry',
    message: 'line',
    project: 'label `project`, else the header `X-Scope-OrgID`',
    metadata: 'labels and structured metadata',
    labels: 'any label',
    answers: '204',
  },
  projectHeader: 'x-scope-orgid',
  findKey: findBasicKey,
  events: [
    {
      method: 'POST',
      path: '/loki/api/v1/push',
      summary: 'Loki’s push API',
      id: 'send_loki',
      bodies: [
        {
          type: /^application\/json(?:;|$)/i,
          shown: 'application/json',
          format: 'loki-json',
        },
        {
          type: /^application\/x-protobuf(?:;|$)/i,
          shown: 'application/x-protobuf',
          format: 'loki-protobuf',
          ownEncoding: 'snappy',
        },
      ],
      respond: (receipt) =>
        receipt.refused === 0 ? { status: 204 } : { status: 400, type: TEXT, body: reasonsText(receipt) },
    },
  ],
  info: [],
  // Senders log the text, and send again what failed with 429 or 5xx.
  refuse: ({ status, message }) => ({ status, type: TEXT, body: message }),
};
