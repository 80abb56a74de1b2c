import { headerOf } from '../../../lib/header.ts';
import { type Protocol, type ProtocolReply, type ProtocolRequest, reasonsText } from '../protocol.ts';
import { ATTRIBUTES } from './decode.ts';

const REQUEST_ID = 'x-amz-firehose-request-id';

/** Amazon Data Firehose's delivery to an HTTP endpoint. */
export const firehose: Protocol = {
  docs: {
    title: 'Amazon Data Firehose',
    tested: 'its documented bodies',
    key: '`X-Amz-Firehose-Access-Key`',
    timestamp: '`timestamp` of the object or of CloudWatch’s event, else of the request',
    message: '`message`; of a record that is not JSON each line',
    project: '`project` of the object or common attributes',
    metadata: 'the other members; common attributes; CloudWatch’s `logGroup`, `logStream`, `owner`',
    labels: '`logGroup`, common attributes, members of the object',
    answers: '200 `{"requestId":…,"timestamp":…}`, with `errorMessage` where events are rejected',
  },
  findKey: (request) => headerOf(request, 'x-amz-firehose-access-key'),
  events: [
    {
      method: 'POST',
      path: '/drains/firehose',
      summary: 'Amazon Data Firehose',
      id: 'send_firehose',
      bodies: [{ type: /^application\/json(?:;|$)/i, shown: 'application/json', format: 'firehose' }],
      repeatHeader: REQUEST_ID,
      context(request) {
        const attributes = headerOf(request, 'x-amz-firehose-common-attributes');
        return attributes === undefined ? {} : { [ATTRIBUTES]: attributes };
      },
      // Anything but 200 would make Firehose send the same rejected events for a day.
      respond: (receipt, request) =>
        reply(request, 200, receipt.refused === 0 ? undefined : reasonsText(receipt)),
    },
  ],
  info: [],
  refuse: ({ status, message }) => reply(undefined, status, message),
};

function reply(
  request: Pick<ProtocolRequest, 'headers'> | undefined,
  status: number,
  errorMessage: string | undefined,
): ProtocolReply {
  const requestId = request === undefined ? undefined : headerOf(request, REQUEST_ID);
  return {
    status,
    body: { ...(requestId !== undefined && { requestId }), timestamp: Date.now(), errorMessage },
  };
}
