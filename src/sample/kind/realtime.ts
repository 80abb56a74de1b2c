import { createWeighted } from '../../lib/random.ts';
import { type Description, isoInstant, type Moment } from '../kind.ts';

interface Message {
  readonly level: 'info' | 'warning' | 'error';
  readonly module: string;
  readonly text: string;
}

const pickUsual = createWeighted<Message>([
  [40, { level: 'info', module: 'RealtimeWeb.RealtimeChannel', text: 'Joined channel room:lobby' }],
  [25, { level: 'info', module: 'Realtime.Tenants.Connect', text: 'Tenant is connected, 14 clients' }],
  [
    20,
    { level: 'info', module: 'Extensions.PostgresCdcRls', text: 'Subscription to public.orders is active' },
  ],
  [10, { level: 'info', module: 'Realtime.Tenants.Connect', text: 'Stopping tenant, no clients are left' }],
  [
    4,
    {
      level: 'warning',
      module: 'RealtimeWeb.UserSocket',
      text: 'ClientJoinRateLimitReached: too many joins',
    },
  ],
  [1, { level: 'error', module: 'RealtimeWeb.RealtimeChannel', text: 'InvalidJWTToken: token has expired' }],
]);

const failure: Message = {
  level: 'error',
  module: 'Realtime.Tenants.Connect',
  text: 'UnableToConnectToTenantDatabase: connection refused',
};

/** A message of a project's realtime server, as `realtime.logs.prod` has it. */
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
