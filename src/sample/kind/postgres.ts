import { createWeighted, type Random } from '../../lib/random.ts';
import { type Description, isoInstant, type Moment } from '../kind.ts';

/** A kind of message; `user` or `query` is `null` if it belongs to no session or no query. */
interface Message {
  readonly severity: 'LOG' | 'ERROR' | 'FATAL';
  readonly state: string;
  readonly user: string | null;
  readonly query: string | null;
  readonly text: (random: Random) => string;
}

const log = { severity: 'LOG', state: '00000', query: null } as const;
const error = { severity: 'ERROR', user: 'authenticator' } as const;
const slow = { ...log, query: 'SELECT * FROM orders WHERE customer_id = $1 ORDER BY created_at DESC' };

const INSERT = 'INSERT INTO orders (id, total) VALUES ($1, $2)';
const DUPLICATE = 'duplicate key value violates unique constraint "orders_pkey"';
const UNKNOWN = 'relation "user" does not exist';
const DENIED = 'permission denied for table invoices';
const NO_SLOTS = 'remaining connection slots are reserved for roles with the SUPERUSER attribute';
const TIMEOUT = 'canceling statement due to statement timeout';

const pickUsual = createWeighted<Message>([
  [32, authorized('authenticator', 'PostgREST 13.0.7')],
  [14, authorized('supabase_auth_admin', 'auth')],
  [14, authorized('supabase_storage_admin', 'storage')],
  [8, { ...log, user: null, text: received }],
  [6, { ...log, user: null, text: checkpoint }],
  [16, { ...slow, user: 'authenticator', text: (random) => `${duration(random)}  statement: ${slow.query}` }],
  [4, { ...error, state: '23505', query: INSERT, text: () => DUPLICATE }],
  [3, { ...error, state: '42P01', query: 'select * from "user"', text: () => UNKNOWN }],
  [3, { ...error, state: '42501', query: 'SELECT * FROM invoices', text: () => DENIED }],
]);

const pickFailure = createWeighted<Message>([
  [3, { ...error, severity: 'FATAL', state: '53300', query: null, text: () => NO_SLOTS }],
  [2, { ...error, state: '57014', query: slow.query, text: () => TIMEOUT }],
]);

/** A message of a project's database, in `postgres.logs`. */
export function describeDatabaseMessage({ random, project, at, failing }: Moment): Description {
  const { severity, state, user, query, text } =
    failing && random.chance(0.6) ? pickFailure(random) : pickUsual(random);
  const processId = random.whole(300, 65_000);
  return {
    message: text(random),
    metadata: {
      host: `db-${project.ref}`,
      parsed: {
        application_name: null,
        backend_type: user === null ? 'postmaster' : 'client backend',
        command_tag: query?.slice(0, query.indexOf(' ')).toUpperCase() ?? null,
        connection_from:
          user === null ? null : `10.0.4.${random.whole(2, 60)}:${random.whole(32_768, 60_999)}`,
        context: null,
        database_name: user === null ? null : 'postgres',
        detail: null,
        error_severity: severity,
        hint: null,
        process_id: processId,
        query,
        query_id: query === null ? 0 : random.whole(1, Number.MAX_SAFE_INTEGER),
        session_id: `${random.hex()}.${processId.toString(16)}`,
        session_line_num: random.whole(1, 9),
        sql_state_code: state,
        timestamp: `${isoInstant(at).slice(0, -1).replace('T', ' ')} UTC`,
        transaction_id: 0,
        user_name: user,
      },
    },
  };
}

function authorized(user: string, program: string): Message {
  const text = `connection authorized: user=${user} database=postgres application_name=${program} SSL enabled (protocol=TLSv1.3)`;
  return { ...log, user, text: () => text };
}

function received(random: Random): string {
  return `connection received: host=10.0.4.${random.whole(2, 60)} port=${random.whole(32_768, 60_999)}`;
}

function checkpoint(random: Random): string {
  return `checkpoint complete: wrote ${random.whole(20, 900)} buffers; write=${random.whole(2, 90)}.1 s, sync=0.012 s`;
}

function duration(random: Random): string {
  return `duration: ${random.logNormal(1_800, 0.5).toFixed(3)} ms`;
}
