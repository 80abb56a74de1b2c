import type { AlertMessage } from '../outbox.ts';
import { describeInstances, oneLine, shorten, titleOf } from '../text.ts';
import { postJson } from './post.ts';
import type { Connector, Send } from './receiver.ts';

// Slack's bounds: 3,000 characters in a section, 150 in a header.
const SECTION_CHARS_MAX = 3_000;
const HEADER_CHARS_MAX = 150;
const INSTANCES_MAX = 10;

export interface SlackSettings {
  readonly url: URL;
}

/** Posts to an incoming webhook: https://docs.slack.dev/messaging/sending-messages-using-incoming-webhooks */
export function createSlack({ url }: SlackSettings, connector: Connector): Send {
  return ({ message }, signal) => postJson({ url, body: toSlack(message) }, connector, signal);
}

/** Blocks of plain text, in which Slack reads no markup; `text` is what notifications show. */
function toSlack(message: AlertMessage) {
  const title = titleOf(message);
  const lines = describeInstances(message, INSTANCES_MAX).join('\n');
  const section = (text: string) =>
    text.trim() === '' ? [] : [{ type: 'section', text: plain(text, SECTION_CHARS_MAX) }];
  return {
    text: escapeMarkup(`${title}: ${oneLine(message.text, SECTION_CHARS_MAX / 10)}`),
    unfurl_links: false,
    unfurl_media: false,
    blocks: [
      { type: 'header', text: plain(title, HEADER_CHARS_MAX) },
      ...section(message.text),
      ...section(lines),
      ...linkOf(message),
    ],
  };
}

function plain(text: string, charsMax: number) {
  return { type: 'plain_text', text: neutralise(shorten(text, charsMax - mentions(text))), emoji: false };
}

// A client that links names in plain text finds none: a word joiner stands between the sign and the name.
function neutralise(text: string): string {
  return text.replace(/[@#](?=\S)/g, '$&\u2060');
}

function mentions(text: string): number {
  return text.match(/[@#](?=\S)/g)?.length ?? 0;
}

/** The three characters that begin markup (`<!channel>`, `<https://…|text>`), then what is markup without them. */
function escapeMarkup(text: string): string {
  const escaped = text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
  return neutralise(escaped).replace(/[*_~`]/g, '\u2060$&\u2060');
}

function linkOf({ link }: AlertMessage) {
  if (link === undefined || !URL.canParse(link)) return [];
  const { href, protocol } = new URL(link);
  if (protocol !== 'https:' && protocol !== 'http:') return [];
  const address = href
    .replaceAll('|', '%7C')
    .replaceAll('>', '%3E')
    .replaceAll('<', '%3C')
    .replaceAll('&', '&amp;');
  return [{ type: 'section', text: { type: 'mrkdwn', text: `<${address}|Open in Tailrace>` } }];
}
