import { createWeighted } from '../../lib/random.ts';
import type { Description, Moment } from '../kind.ts';

interface Message {
  readonly level: 'info' | 'warning' | 'error';
  readonly text: string;
}

const pickUsual = createWeighted<Message>([
  [55, { level: 'info', text: 'Schema cache queried in 18.4 milliseconds' }],
  [25, { level: 'info', text: 'Schema cache loaded 42 Relations, 31 Relationships, 17 Functions' }],
  [12, { level: 'info', text: 'Received a schema cache reload message on the "pgrst" channel' }],
  [6, { level: 'warning', text: 'Attempting to reconnect to the database in 1 seconds...' }],
  [2, { level: 'error', text: '{"code":"PGRST301","details":null,"hint":null,"message":"JWT expired"}' }],
]);

const failure: Message = {
  level: 'error',
  text: '{"code":"PGRST003","details":null,"hint":null,"message":"Timed out acquiring connection from connection pool."}',
};

/** A message of a project's REST API server, in `postgREST.logs.prod`. */
export function describeRestServerMessage({ random, project, failing }: Moment): Description {
  const { level, text } = failing && random.chance(0.7) ? failure : pickUsual(random);
  return {
    message: text,
    metadata: { host: `rest-${project.ref}`, identifier: null, level, tags: [], version: '13.0.7' },
  };
}
