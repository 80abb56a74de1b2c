import { describe, expect, test } from 'vitest';
import { type Body, post } from '../support/ingest.ts';
import { shareProtocolService } from '../support/protocols.ts';
import { PUBLIC_KEY } from '../support/service.ts';
import { newProject } from '../support/shared-service.ts';

const service = await shareProtocolService();
const { url, clock, rows } = service;

const PATH = '/services/collector/event';
const SUCCESS = { text: 'Success', code: 0 };
const KEY = { 'x-api-key': '', authorization: `Splunk ${PUBLIC_KEY}` };

async function send(body: Body, path = PATH, headers: Record<string, string> = {}) {
  const { status, text } = await post(url, path, body, { ...KEY, ...headers });
  return { status, answer: JSON.parse(text) as Record<string, unknown> };
}

describe('an event for Splunk’s collector', () => {
  test('is stored with its time, text and origins, one behind the other without a comma', async () => {
    const project = newProject();
    const time = `${Math.floor(clock.now / 1_000)}.125`;
    const body = `{"time":${time},"host":"h1","sourcetype":"shop","event":"a } \\" {","fields":{"project":"${project}","n":12345678901234567890}}
      {"time":"${time}","event":{"message":"b","severity":"warn","project":"${project}","a.b":[]}}{"event":{"project":"${project}","x":1}}`;
    expect(await send(body, PATH, { 'content-type': 'application/x-www-form-urlencoded' })).toEqual({
      status: 200,
      answer: SUCCESS,
    });
    const columns =
      'event_message, metadata, level, service, host, toUnixTimestamp64Milli(timestamp) % 1000 AS ms';
    expect(await rows(project, { columns })).toMatchObject([
      {
        ...{ event_message: 'a } " {', level: null, service: 'shop', host: 'h1', ms: 125 },
        metadata: `{"host":"h1","sourcetype":"shop","project":"${project}","n":12345678901234567890}`,
      },
      {
        event_message: 'b',
        level: 'warn',
        metadata: `{"severity":"warn","project":"${project}","a.b":[]}`,
        ms: 125,
      },
      { event_message: `{"project":"${project}","x":1}`, metadata: `{"project":"${project}","x":1}` },
    ]);
  });

  test('of a raw body is a line, with the origins of the query string', async () => {
    const project = newProject();
    const path = '/services/collector/raw?host=h2&sourcetype=s&source=/var/log/x&index=main';
    const bytes = Buffer.concat([Buffer.from('one "1"\r\n\n  two\nl'), Buffer.from([0xe4])]);
    expect((await send(new Uint8Array(bytes), path, { 'x-project': project })).answer).toEqual(SUCCESS);
    const metadata = '{"host":"h2","source":"/var/log/x","sourcetype":"s","index":"main"}';
    expect(await rows(project)).toEqual(
      ['  two', 'l\ufffd', 'one "1"'].map((event_message) => ({ event_message, metadata })),
    );
  });
});
