import { connect, type Socket } from 'node:net';

/** What came back on a connection. */
export interface WireAnswer {
  readonly status: number;
  readonly head: string;
  readonly body: string;
}

export interface Exchange {
  /** `undefined` where the connection was closed without one. */
  readonly answer: WireAnswer | undefined;
  /** Everything that came, for a search in it. */
  readonly text: string;
  readonly closed: boolean;
}

export interface Wire {
  /**
   * Sends bytes and waits for the answer, or, where `toEnd`, for the connection's end after having closed our side.
   *
   * @throws Error when neither comes in time
   */
  exchange(bytes: Buffer, how: { isHead: boolean; toEnd: boolean }): Promise<Exchange>;
  close(): void;
}

/** A connection that is opened again when it was closed. */
export function createWire({ port, timeoutMs }: { port: number; timeoutMs: number }): Wire {
  let socket: Socket | undefined;

  function open(): Socket {
    if (socket !== undefined && !socket.destroyed && socket.writable) return socket;
    const fresh = connect({ port, host: '127.0.0.1', noDelay: true, allowHalfOpen: true });
    fresh.on('error', () => {}); // a reset; `close` follows
    socket = fresh;
    return fresh;
  }

  return {
    exchange(bytes, { isHead, toEnd }) {
      const current = open();
      return new Promise((resolve, reject) => {
        const chunks: Buffer[] = [];
        const done = (closed: boolean) => {
          clearTimeout(late);
          current.off('data', onData).off('end', onEnd).off('close', onEnd);
          if (closed) current.destroy();
          const text = Buffer.concat(chunks).toString('latin1');
          resolve({ answer: readAnswer(text, isHead || closed), text, closed });
        };
        const onData = (chunk: Buffer) => {
          chunks.push(chunk);
          if (toEnd) return;
          const text = Buffer.concat(chunks).toString('latin1');
          const answer = readAnswer(text, isHead);
          if (answer !== undefined) done(/^connection: close$/im.test(answer.head));
        };
        const onEnd = () => done(true);
        const late = setTimeout(() => {
          current.destroy();
          reject(new Error(`no answer within ${timeoutMs} ms`));
        }, timeoutMs);
        current.on('data', onData).once('end', onEnd).once('close', onEnd);
        if (toEnd) current.end(bytes);
        else current.write(bytes);
      });
    },
    close: () => socket?.destroy(),
  };
}

/** The first whole answer of a text; a 100 (Continue) is none. */
function readAnswer(text: string, isHeadAlone: boolean): WireAnswer | undefined {
  const end = text.indexOf('\r\n\r\n');
  if (end === -1) return undefined;
  const head = text.slice(0, end);
  const status = Number(/^HTTP\/1\.1 (\d{3})/.exec(head)?.[1]);
  const rest = text.slice(end + 4);
  if (status === 100) return readAnswer(rest, isHeadAlone);
  const length = Number(/^content-length: (\d+)$/im.exec(head)?.[1] ?? 0);
  if (!isHeadAlone && rest.length < length) return undefined;
  return { status, head, body: rest.slice(0, length) };
}
