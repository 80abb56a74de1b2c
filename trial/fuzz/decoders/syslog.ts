import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';
import type { Random } from '../../../src/lib/random.ts';
import { until } from '../../until.ts';
import { syslogLine } from './bodies.ts';
import { show } from './http.ts';
import { mutate } from './junk.ts';
import type { FuzzedSender } from './sender.ts';

// Of each connection, which may be left in the middle of a frame.
const INPUTS_PER_CONNECTION = 50;
const MARK_EVERY = 100;
const PAUSE_MS = 1;
const DATAGRAM_BYTES_MAX = 60_000;
const STORED_MS_MAX = 30_000;
const LOST = /^tailrace_syslog_lost_total\{reason="not_stored"\} (?!0$)/m;

export interface SyslogTarget {
  readonly url: string;
  readonly key: string;
  readonly port: number;
}

/**
 * Sends lines to a port of syslog. It gives no answer: a fault is a byte that comes back, a connection that the service closes, a line
 * that is lost in the store, or one in the right form, on a connection of its own, that is not stored.
 */
export function createSyslogSender(target: SyslogTarget, transport: 'tcp' | 'udp'): FuzzedSender {
  const project = `fuzz-${transport}`;
  const open = transport === 'tcp' ? openTcp : openUdp;
  const { write, end } = open(target.port);
  let sent = 0;
  let marks = 0;

  async function sendMark(): Promise<void> {
    const alone = open(target.port);
    await alone.write(Buffer.from(`<13>1 - - - - - [tailrace@1 project="${project}"] mark ${++marks}\n`));
    await alone.end();
  }

  return {
    async send(random) {
      const bytes = writeInput(random, transport);
      const fault = await write(bytes);
      if (transport === 'udp') await wait(PAUSE_MS); // so that the service keeps up
      if (transport === 'tcp' && ++sent % MARK_EVERY === 0) await sendMark();
      return { outcome: 'sent', ...(fault !== undefined && { fault: `${fault}, for ${show(bytes)}` }) };
    },
    async close() {
      await end();
      if (transport === 'tcp') await sendMark();
      const headers = { 'x-api-key': target.key };
      const check = async () => {
        if (transport === 'udp') await sendMark(); // until one is stored: the kernel drops what is not read in time
        const path = `/api/search?project=${project}&part=values&field=project`;
        const found = await fetch(`${target.url}${path}`, { headers });
        const { result } = (await found.json()) as { result: readonly { readonly count: number }[] };
        const { count = 0 } = result[0] ?? {};
        const isStored = transport === 'tcp' ? count === marks : count > 0;
        if (!isStored) throw new Error(`${count} of ${marks} lines were stored`);
      };
      await until(check, STORED_MS_MAX);
      const metrics = await fetch(`${target.url}/metrics`, { headers });
      if (LOST.test(await metrics.text())) throw new Error('lines could not be stored');
    },
  };
}

function writeInput(random: Random, transport: 'tcp' | 'udp'): Buffer {
  const line = mutate(Buffer.from(syslogLine(random)), random);
  if (transport === 'udp') return line.subarray(0, DATAGRAM_BYTES_MAX);
  const length = line.length + (random.chance(0.1) ? random.whole(-9, 9_999) : 0);
  const frame = random.chance(0.4)
    ? [Buffer.from(`${length} `), line]
    : [line, Buffer.from(random.pick(['\n', '\n', '\r\n', '\0', '']))];
  return Buffer.concat(frame);
}

function openTcp(port: number) {
  let socket: Socket | undefined;
  let fault: string | undefined;
  let left = 0;
  async function end(): Promise<void> {
    const closed = socket === undefined || socket.closed ? undefined : once(socket, 'close');
    socket?.end();
    await closed;
    socket = undefined;
  }
  return {
    end,
    async write(bytes: Buffer): Promise<string | undefined> {
      if (left-- === 0) await end();
      if (socket === undefined) {
        left = INPUTS_PER_CONNECTION - 1;
        fault = undefined;
        socket = connect(port, '127.0.0.1');
        socket.on('data', (back) => (fault = `it answered ${show(back)}`));
        socket.on('error', ({ message }) => (fault = message));
        socket.on(
          'end',
          () => (fault ??= socket?.writableEnded === false ? 'it closed the connection' : undefined),
        );
        await once(socket, 'connect');
      }
      if (!socket.write(bytes)) await Promise.race([once(socket, 'drain'), once(socket, 'close')]);
      return fault;
    },
  };
}

function openUdp(port: number) {
  const socket = createSocket('udp4');
  let fault: string | undefined;
  socket.on('message', (back) => (fault = `it answered ${show(back)}`));
  socket.on('error', ({ message }) => (fault = message));
  return {
    async write(bytes: Buffer): Promise<string | undefined> {
      await new Promise<void>((resolve) => socket.send(bytes, port, '127.0.0.1', () => resolve()));
      return fault;
    },
    async end(): Promise<void> {
      await new Promise<void>((resolve) => socket.close(resolve));
    },
  };
}
