import { type AddressInfo, createServer, type Socket } from 'node:net';

const CHUNK_BYTES = 65_536;

/** Ways to fail after the first bytes of a request have come. */
const RESPOND = {
  hangs: () => {},
  'answers 500': (socket) => socket.end('HTTP/1.1 500 Internal\r\ncontent-length: 0\r\n\r\n'),
  redirects: (socket) =>
    socket.end('HTTP/1.1 302 Found\r\nlocation: http://127.0.0.1:9/\r\ncontent-length: 0\r\n\r\n'),
  'closes early': (socket) => socket.destroy(),
  'closes within the headers': (socket) => socket.end('HTTP/1.1 200 OK\r\nx: '),
  'answers 500 without an end': (socket) => {
    socket.write('HTTP/1.1 500 Internal\r\n\r\n');
    writeOn(socket, () => Buffer.alloc(CHUNK_BYTES, 'x'));
  },
  'sends headers without an end': (socket) => {
    socket.write('HTTP/1.1 200 OK\r\n');
    writeOn(socket, () => `a: ${'x'.repeat(1_000)}\r\n`);
  },
  'speaks another protocol': (socket) => socket.end('220 mail.example.com ESMTP\r\n'),
} satisfies Record<string, (socket: Socket) => void>;

/** Accepts every message, with 10 GB that nobody reads. */
const ENDLESS = 'answers 200 with 10 GB';

export const FAILING = Object.keys(RESPOND) as (keyof typeof RESPOND)[];

function writeOn(socket: Socket, next: () => string | Buffer): void {
  const more = () => {
    while (socket.writable && socket.write(next()));
  };
  socket.on('drain', more);
  more();
}

function answerEndlessly(socket: Socket): void {
  socket.write(`HTTP/1.1 200 OK\r\ncontent-length: ${10 * 1024 ** 3}\r\n\r\n`);
  writeOn(socket, () => Buffer.alloc(CHUNK_BYTES, 'x'));
}

/** Starts a server of 127.0.0.1 that fails in one way. `writtenMax`: the most bytes that one connection took of its answer. */
export async function startFailingServer(way: keyof typeof RESPOND | typeof ENDLESS) {
  const closing: (() => void)[] = [];
  const written: number[] = [];
  const respond = way === ENDLESS ? answerEndlessly : RESPOND[way];
  const server = createServer((socket) => {
    closing.push(() => socket.destroy());
    socket.on('error', () => {}); // the sender ends the connection
    socket.once('close', () => written.push(socket.bytesWritten - socket.writableLength));
    socket.once('data', () => respond(socket));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo; // listens on a port
  return {
    url: `http://127.0.0.1:${port}/`,
    connections: () => closing.length,
    writtenMax: () => Math.max(0, ...written),
    close() {
      for (const close of closing) close();
      server.close();
    },
  };
}
