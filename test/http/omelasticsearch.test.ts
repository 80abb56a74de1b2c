import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { findProgram } from '../../scripts/programs.js';
import { findFreePort } from '../../trial/free-port.ts';
import { newProject, startProtocolService } from '../support/protocols.ts';
import { PUBLIC_KEY, temporaryFolder } from '../support/service.ts';

const EVENTS = 100;
const service = await startProtocolService();
afterAll(service.close);
const { url, clock, rows } = service;

const isMissing = findProgram('rsyslog') === undefined || findProgram('omelasticsearch') === undefined;

test.skipIf(isMissing)('rsyslog sends bulk requests, each line once', async () => {
  const project = newProject();
  const own = await temporaryFolder();
  const port = await findFreePort();
  await writeFile(join(own.path, 'rsyslog.conf'), configuration(own.path, { port, project }));
  const args = ['-n', '-f', join(own.path, 'rsyslog.conf'), '-i', join(own.path, 'pid')];
  const child = spawn(findProgram('rsyslog') ?? '', args, { stdio: 'ignore' });
  try {
    const texts = Array.from({ length: EVENTS }, (_, i) => `"quoted" ü ${i}`);
    const time = new Date(clock.now).toISOString();
    const lines = texts.map((text) => `<13>1 ${time} h app - - - ${text}\n`).join('');
    await expect.poll(() => isSent(port, lines)).toBe(true);
    const columns = 'event_message, host, toUnixTimestamp64Milli(timestamp) AS at';
    await expect
      .poll(() => rows(project, { columns }))
      .toEqual(texts.toSorted().map((text) => ({ event_message: text, host: 'h', at: clock.now })));
  } finally {
    const ended = once(child, 'close');
    child.kill();
    await ended;
    await own.remove();
  }
});

function configuration(folder: string, { port, project }: { port: number; project: string }): string {
  const property = (name: string, from: string, more = '') =>
    `  property(outname="${name}" name="${from}" format="jsonf" ${more})\n`;
  return (
    `global(workDirectory="${folder}")\nmodule(load="imtcp")\nmodule(load="omelasticsearch")\n` +
    'template(name="document" type="list" option.jsonf="on") {\n' +
    property('@timestamp', 'timereported', 'dateFormat="rfc3339"') +
    property('host', 'hostname') +
    property('message', 'msg') +
    `  constant(outname="project" value="${project}" format="jsonf")\n}\n` +
    `input(type="imtcp" port="${port}" address="127.0.0.1")\n` +
    `*.* action(type="omelasticsearch" server="127.0.0.1" serverport="${new URL(url).port}" uid="tailrace" pwd="${PUBLIC_KEY}"` +
    ' searchIndex="shop" bulkmode="on" template="document")\n'
  );
}

/** @returns false if the port is not open yet */
async function isSent(port: number, text: string): Promise<boolean> {
  const socket = connect(port, '127.0.0.1');
  let isOpen = true;
  socket.on('error', () => {
    isOpen = false;
  });
  socket.end(text);
  await once(socket, 'close');
  return isOpen;
}
