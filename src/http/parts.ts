import type { Tool } from '@modelcontextprotocol/server';
import type { FastifyBaseLogger } from 'fastify';
import type { CachedQueries } from '../cache/cached.ts';
import type { Config } from '../config/config.ts';
import type { Endpoint } from '../definitions/endpoint.ts';
import type { Registry } from '../definitions/registry.ts';
import type { Engine } from '../engine/engine.ts';
import type { Ingest, Receive } from '../ingest/receive.ts';
import type { Caller } from '../keys/keyring.ts';
import type { OverviewParts, RejectionParts } from '../management/admin.ts';
import type { AlertTests } from '../management/alert-test.ts';
import type { AlertParts } from '../management/alerts.ts';
import type { DeletionParts } from '../management/deletions.ts';
import type { SessionParts } from '../management/sessions.ts';
import type { Projects } from '../management/view.ts';
import type { Authenticate, ReadAmbient } from '../people/credential.ts';
import type { SignIn } from '../people/sign-in.ts';
import type { Pins } from '../query/pins.ts';
import type { DraftTestParts } from '../search/draft/test.ts';
import type { SharedRates } from '../serve/admit.ts';
import type { Describe } from '../serve/describe.ts';
import type { Resolve } from '../serve/resolve.ts';
import type { Tails } from '../tail/tails.ts';
import type { Metrics } from '../telemetry/metrics.ts';
import type { createSave, SaveParts } from '../workbench/save.ts';
import type { Schema } from './openapi/schema.ts';
import type { TlsContext } from './tls.ts';

/** What the routes and the code around them need, each name one part; src/service/routes.ts creates them. */
export type AppParts = OwnParts &
  Resolve &
  DraftTestParts &
  OverviewParts &
  RejectionParts &
  AlertParts &
  DeletionParts &
  SessionParts &
  SaveParts;

interface OwnParts {
  readonly config: Config;
  readonly engine: Engine;
  readonly registry: Registry;
  readonly logger: FastifyBaseLogger;
  readonly metrics: Metrics;
  /** Version of Tailrace. */
  readonly version: string;
  /** `undefined`: the service speaks HTTP without TLS. */
  readonly tls: TlsContext | undefined;
  /** Rates that hold over all replicas; `undefined`: each replica counts its own. */
  readonly sharedRates: SharedRates | undefined;

  readonly authenticate: Authenticate;
  readonly readAmbient: ReadAmbient;
  readonly signIn: SignIn;

  readonly cached: CachedQueries;
  readonly describe: Describe;
  readonly tails: Pick<Tails, 'open' | 'close'>;

  readonly receive: Receive;
  readonly admitEvents: Ingest['admitEvents'];

  readonly alertTests: AlertTests;
  readonly save: ReturnType<typeof createSave>;
  readonly listProjects: (caller: Caller) => Promise<Projects>;
  /** Whether lists have the shape that Supabase Studio reads. */
  readonly studio: boolean;
  /** Commands to the process; without them it cannot be asked to reload or stop. */
  readonly actions: ProcessActions | undefined;
  /** Returns the OpenAPI document with these endpoints; `undefined`: the reader has no key. */
  readonly describeApi: (endpoints: readonly Endpoint[] | undefined) => Schema;
  /** Describes an endpoint as a tool of agents, for a key with these pins. */
  readonly describeTool: (endpoint: Endpoint, pins: Pins) => Tool;
  readonly pages: BuiltConsole;
}

/** An operator's commands to the process itself. */
export interface ProcessActions {
  /** Reloads the definitions. Never rejects. @returns the result, including faults */
  readonly reload: () => Promise<unknown>;
  /** Begins to stop the service. */
  readonly stop: () => void;
}

export interface BuiltConsole {
  /** The folder of the built files. */
  readonly dir: string;
  /** Whether the console is built. If not, its pages respond 404 and say how to build them. */
  readonly isBuilt: boolean;
}
