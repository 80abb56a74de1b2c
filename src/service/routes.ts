import { randomUUID } from 'node:crypto';
import type { FastifyBaseLogger } from 'fastify';
import type { Endpoint } from '../definitions/endpoint.ts';
import { createFilledTables } from '../engine/write-marks.ts';
import { createOpenApi, describeTool } from '../http/openapi/document.ts';
import type { AppParts } from '../http/parts.ts';
import { findConsole } from '../http/routes/console.ts';
import type { Ingest } from '../ingest/receive.ts';
import { createAlertTests } from '../management/alert-test.ts';
import { createProjects } from '../management/definitions.ts';
import type { Cursors } from '../query/cursor.ts';
import type { Run } from '../query/run.ts';
import { createSandbox } from '../sandbox/sandbox.ts';
import { createDescribe } from '../serve/describe.ts';
import { createResolve } from '../serve/resolve.ts';
import { createSave, editCopies, type SavedEntry } from '../workbench/save.ts';
import { createTestRun } from '../workbench/tests.ts';
import { createCatalogue } from '../workbench/workbench.ts';
import type { ServedAlerts } from './alerts.ts';
import type { People } from './callers.ts';
import type { Context } from './context.ts';
import type { Reading } from './reading.ts';

/** The parts of the service that callers reach: as they are, or to create steps of a request from. */
type Served = People &
  Reading &
  Ingest &
  Pick<AppParts, 'deletions' | 'notReady' | 'readNotices' | 'sharedRates'> &
  Pick<AppParts, 'startedMs' | 'traffic' | 'rejectedRequests' | 'rejectedEvents'> & {
    readonly alerts: ServedAlerts;
    readonly cursors: Cursors;
  };

/** Creates the parts of the app: what it takes from the service, the steps of a request, and the workbench. */
export function createAppParts(context: Context, { alerts, cursors, ...served }: Served): AppParts {
  const { config, control, core, now, options, build } = context;
  const { engine, registry } = core;
  const { version } = build;
  return {
    ...context,
    ...served,
    ...{ version, describeTool, actions: options.actions, studio: config.studio === '1' },
    ...createSteps(context, cursors),
    ...createWorkbench(context, alerts, served.runDraft),
    alertTests: createAlertTests({ control, registry, now, newId: randomUUID, ...alerts }),
    listProjects: createProjects(engine, registry, now),
    describeApi: (endpoints) =>
      createOpenApi({ version, endpoints: endpoints ?? [], hasKey: endpoints !== undefined }),
    pages: findConsole(),
  };
}

/** Creates the steps of a request that src/serve/ has. */
function createSteps({ config, core, logger, now }: Context, cursors: Cursors) {
  const { engine, registry, writes } = core;
  const sandbox = createSandbox(engine, { now });
  const filled = createFilledTables(engine, writes);
  const onIgnoredSql = createIgnoredSqlWarning(logger);
  return {
    ...createResolve({ registry, cursors, sandbox, limits: config, now, filled, onIgnoredSql }),
    describe: createDescribe(cursors),
  };
}

/** Logs once that a caller sends SQL where it is ignored: Studio would show the same rows on every page. */
function createIgnoredSqlWarning(logger: FastifyBaseLogger): (endpoint: Endpoint) => void {
  let isLogged = false;
  return ({ name }) => {
    if (isLogged) return;
    isLogged = true;
    const why = 'it has no query sandboxing';
    const advice = 'if they come from Supabase Studio, set TAILRACE_STUDIO=1 (docs/supabase.md)';
    logger.warn({ endpoint: name }, `requests to ${name} send sql, which is ignored: ${why}; ${advice}`);
  };
}

function createWorkbench(context: Context, { receivers }: ServedAlerts, run: Run) {
  const { config, options, core, control, logger, now } = context;
  const { engine, registry } = core;
  const { runTests = async () => [] } = options;
  const folders = () => core.folders;
  const onCopied = (folder: string) =>
    logger.warn({ folder }, 'the shipped endpoints and dashboards are copied; they are served from there');
  const parts = {
    ...{ config, engine, registry, folders, receivers, run, newId: randomUUID },
    edit: editCopies({ edit: core.edit, folders, onCopied }),
    runTests: createTestRun(runTests, { folders }),
    readCatalogue: createCatalogue(engine, registry),
    audit: (entry: SavedEntry) =>
      control.record([{ ...entry, atMs: now(), count: 1 }]).catch((error) => {
        logger.error({ err: error, ...entry }, 'a saved endpoint is not in the audit trail');
      }),
  };
  return { ...parts, save: createSave(parts) };
}
