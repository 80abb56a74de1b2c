import { createWeighted, type Random } from '../../lib/random.ts';
import type { Description, Moment } from '../kind.ts';

interface Message {
  readonly level: 'log' | 'warning' | 'error';
  /** After the name of the connection. */
  readonly text: (random: Random) => string;
}

const LOGIN = 'login attempt: db=postgres user=postgres tls=TLSv1.3/TLS_AES_256_GCM_SHA384';
const FULL = 'pooler error: no more connections allowed (max_client_conn)';

const pickUsual = createWeighted<Message>([
  [40, { level: 'log', text: () => LOGIN }],
  [
    40,
    {
      level: 'log',
      text: (random) => `closing because: client close request (age=${random.whole(1, 900)}s)`,
    },
  ],
  [
    15,
    { level: 'log', text: (random) => `new connection to server (from 10.0.4.${random.whole(2, 60)}:5432)` },
  ],
  [5, { level: 'warning', text: () => 'pooler error: query_wait_timeout' }],
]);

const failure: Message = { level: 'error', text: () => FULL };

/** A message of a project's connection pooler, in `pgbouncer.logs.prod`. */
export function describePoolerMessage({ random, project, failing }: Moment): Description {
  const { level, text } = failing && random.chance(0.7) ? failure : pickUsual(random);
  const connection = `C-0x${random.hex()}: postgres/postgres@10.0.4.${random.whole(2, 60)}:${random.whole(32_768, 60_999)}`;
  return {
    message: `${connection} ${text(random)}`,
    metadata: { host: `db-${project.ref}`, level, pid: random.whole(400, 900), unit: null },
  };
}
