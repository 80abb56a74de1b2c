import { headerOf } from '../../../lib/header.ts';
import { findBasicKey, type Protocol, reasonsText } from '../protocol.ts';
import { DRAIN } from './decode.ts';

const TEXT = 'text/plain; charset=utf-8';

/** Heroku's HTTPS log drains. */
export const heroku: Protocol = {
  docs: {
    title: 'Heroku log drains',
    tested: 'its documented frames',
    key: 'password in the drain’s address',
    timestamp: 'time of the line',
    message: 'text of the line',
    project: 'none: pin the key',
    metadata: '`level`, `app`, `process`, `hostname`, `drain`',
    labels: '`app`, `process`, `hostname`, `drain`',
    answers: '204 if any is stored',
  },
  findKey: findBasicKey,
  events: [
    {
      method: 'POST',
      path: '/drains/heroku',
      summary: 'Heroku’s log drains',
      id: 'send_heroku',
      bodies: [{ type: /^application\/logplex-1(?:;|$)/i, shown: 'application/logplex-1', format: 'heroku' }],
      repeatHeader: 'logplex-frame-id',
      context(request) {
        const drain = headerOf(request, 'logplex-drain-token');
        return drain === undefined ? {} : { [DRAIN]: drain };
      },
      respond: (receipt) =>
        receipt.refused === 0 || receipt.stored > 0
          ? { status: 204 }
          : { status: 400, type: TEXT, body: reasonsText(receipt) },
    },
  ],
  info: [],
  refuse: ({ status, message }) => ({ status, type: TEXT, body: message }),
};
