import { createWeighted, type Random } from '../../lib/random.ts';
import { type Description, isoInstant, type Moment } from '../kind.ts';

/** A kind of message. `null` where it comes from no session, or from no query. */
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

const pickUsual = createWeighted<Message>([
  [32, { ...log, user: 'authenticator', text: () => authorized('authenticator', 'PostgREST 13.0.7') }],
  [14, { ...log, user: 'supabase_auth_admin', text: () => authorized('supabase_auth_admin', 'auth') }],
  [
    14,
    { ...log, user: 'supabase_storage_admin', text: () => authorized('supabase_storage_admin', 'storage') },
  ],
  [8, { ...log, user: null, text: received }],
  [6, { ...log, user: null, text: checkpoint }],
  [16, { ...slow, user: 'authenticator', text: (random) => `${duration(random)}  statement: ${slow.query}` }],
  [
    4,
    { ...error, state: '23505', query: 'INSERT INTO orders (id, total) VALUES ($1, $2)', text: duplicateKey },
  ],
  [
    3,
    { ...error, state: '42P01', query: 'select * from "user"', text: () => 'relation "user" does not exist' },
  ],
  [
    3,
    {
      ...error,
      state: '42501',
      query: 'SELECT * FROM invoices',
      text: () => 'permission denied for table invoices',
    },
  ],
]);

const pickFailure = createWeighted<Message>([
  [3, { ...error, severity: 'FATAL', state: '53300', query: null, text: () => NO_SLOTS }],
  [
    2,
    {
      ...error,
      state: '57014',
      query: slow.query,
      text: () => 'canceling statement due to statement timeout',
    },
  ],
]);

const NO_SLOTS = 'remaining connection slots are reserved for roles with the SUPERUSER attribute';

/** A message of a project's database, as `postgres.logs` has it. */
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

function authorized(user: string, program: string): string {
  return `connection authorized: user=${user} database=postgres application_name=${program} SSL enabled (protocol=TLSv1.3)`;
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

function duplicateKey(): string {
  return 'duplicate key value violates unique constraint "orders_pkey"';
}
