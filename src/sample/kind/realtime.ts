import { createWeighted } from '../../lib/random.ts';
import { type Description, isoInstant, type Moment } from '../kind.ts';

interface Message {
  readonly level: 'info' | 'warning' | 'error';
  readonly module: string;
  readonly text: string;
}

const CHANNEL = 'RealtimeWeb.RealtimeChannel';
const CONNECT = 'Realtime.Tenants.Connect';
const SOCKET = 'RealtimeWeb.UserSocket';

const pickUsual = createWeighted<Message>([
  [40, { level: 'info', module: CHANNEL, text: 'Joined channel room:lobby' }],
  [25, { level: 'info', module: CONNECT, text: 'Tenant is connected, 14 clients' }],
  [
    20,
    { level: 'info', module: 'Extensions.PostgresCdcRls', text: 'Subscription to public.orders is active' },
  ],
  [10, { level: 'info', module: CONNECT, text: 'Stopping tenant, no clients are left' }],
  [4, { level: 'warning', module: SOCKET, text: 'ClientJoinRateLimitReached: too many joins' }],
  [1, { level: 'error', module: CHANNEL, text: 'InvalidJWTToken: token has expired' }],
]);

const UNREACHABLE = 'UnableToConnectToTenantDatabase: connection refused';
const failure: Message = { level: 'error', module: CONNECT, text: UNREACHABLE };

/** A message of a project's realtime server, in `realtime.logs.prod`. */
export function describeRealtimeMessage({ random, project, at, failing }: Moment): Description {
  const { level, module, text } = failing && random.chance(0.6) ? failure : pickUsual(random);
  return {
    message: text,
    metadata: {
      context: {
        application: 'realtime',
        domain: ['elixir'],
        line: random.whole(20, 400),
        module,
        pid: `<0.${random.whole(1_000, 9_999)}.0>`,
        time: isoInstant(at),
        vm: { node: `realtime@10.0.7.${random.whole(2, 9)}` },
      },
      external_id: project.ref,
      level,
      measurements: { connected: random.whole(1, 400), limit: null },
      project: project.ref,
    },
  };
}
