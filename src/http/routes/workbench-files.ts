import { Type } from 'typebox';
import { ENDPOINT_NAME } from '../../definitions/endpoint.ts';
import type { Caller } from '../../keys/keyring.ts';
import { DASHBOARD_CHECK } from '../../management/dashboard-view.ts';
import { ALERT_CHECK, ALERT_FILE, SAVED_ALERT } from '../../management/view.ts';
import { checkAlertDraft, readAlertFile, type SaveAlertParts, saveAlert } from '../../workbench/alert.ts';
import {
  checkDashboardDraft,
  checkSearchDraft,
  readDashboardFile,
  readSearchFile,
  type SaveDashboardParts,
  type SaveFileRequest,
  type SaveSearchParts,
  saveDashboard,
  saveSearch,
} from '../../workbench/definition-file.ts';
import { toDraftError } from '../../workbench/draft.ts';
import { requireAuthor } from '../../workbench/workbench.ts';
import { getCaller } from '../plugins/auth.ts';
import { defineRoute, json, jsonBody, type RouteGroup } from '../route.ts';

const TEXT = Type.String({ expected: 'a string' });
const MAP = { additionalProperties: false, expected: 'an object' };
/** A save of a definition that is one file. */
const SAVE_FILE = Type.Object(
  {
    name: ENDPOINT_NAME,
    definition: TEXT,
    version: Type.Union([TEXT, Type.Null()], { expected: 'the version that was read, or null' }),
  },
  MAP,
);

const CHECK_FILE = Type.Object({ definition: TEXT }, MAP);

const common = { scopes: ['manage'], refuse: requireAuthor } as const;

// A text of 64 KiB in JSON.
const FILE_BODY_BYTES_MAX = 512 * 1024;

/** A kind of definition that is one file. */
interface FileRoutes<Parts> {
  readonly noun: string;
  readonly nouns: string;
  readonly example: { readonly name: string; readonly definition: string };
  /** The response of a check. */
  readonly checked: ReturnType<typeof json>;
  readonly check: (parts: Parts, definition: string, caller: Caller) => object;
  readonly read: (parts: Parts, name: string) => Promise<unknown>;
  readonly save: (parts: Parts, request: SaveFileRequest, caller: Caller) => Promise<unknown>;
}

/** Serves the files of a kind of definition to the console. */
function createFileRoutes<Parts>({ noun, nouns, example, checked, check, read, save }: FileRoutes<Parts>) {
  const { definition } = example;
  const a = /^[aeiou]/.test(noun) ? 'an' : 'a';
  const group: RouteGroup<Parts> = {
    bodyBytesMax: FILE_BODY_BYTES_MAX,
    routes: [
      defineRoute({
        ...common,
        method: 'GET',
        path: `/api/workbench/${nouns}/:name`,
        summary: `The file of ${a} ${noun} as a text`,
        operation: { id: `get_${noun}_file`, tag: 'console' },
        answer: { 200: json('The present state.', ALERT_FILE) },
        errors: ['not_found', 'conflict'],
        handle: (parts: Parts, request) => read(parts, request.params.name),
      }),
      defineRoute({
        ...common,
        method: 'POST',
        path: `/api/workbench/${nouns}/check`,
        summary: `The faults of the text of ${a} ${noun}`,
        operation: { id: `check_${noun}`, tag: 'console' },
        body: jsonBody(CHECK_FILE, { example: { definition } }),
        answer: { 200: checked },
        handle: async (parts: Parts, request) => check(parts, request.body.definition, getCaller(request)),
      }),
      defineRoute({
        ...common,
        method: 'POST',
        path: `/api/workbench/${nouns}/save`,
        summary: `Write the file of ${a} ${noun}, and serve it`,
        operation: {
          id: `save_${noun}`,
          tag: 'console',
          description:
            'With `TAILRACE_EDIT_ENDPOINTS=1` or in `tailrace dev`. `version` is that of the text that ' +
            `was read before; null for a new ${noun}.`,
        },
        body: jsonBody(SAVE_FILE, { example: { ...example, version: null } }),
        answer: { 200: json('Saved and served.', SAVED_ALERT) },
        errors: ['invalid_definition', 'conflict', 'overloaded'],
        handle: (parts: Parts, request) => save(parts, request.body, getCaller(request)),
      }),
    ],
  };
  return group;
}

export const workbenchAlertRoutes = createFileRoutes<SaveAlertParts>({
  noun: 'alert',
  nouns: 'alerts',
  example: {
    name: 'checkout.errors',
    definition: `name: checkout.errors
description: Checkout fails.
endpoint: failing.paths
every: 60
when: { column: failures, above: 10 }
text: "{{ failures }} failures"
to: [ops]
`,
  },
  checked: json('Without faults `errors` is empty.', ALERT_CHECK),
  check: (parts, definition) => ({ errors: checkAlertDraft(parts, definition).map(toDraftError) }),
  read: readAlertFile,
  save: saveAlert,
});

export const workbenchDashboardRoutes = createFileRoutes<SaveDashboardParts>({
  noun: 'dashboard',
  nouns: 'dashboards',
  example: {
    name: 'checkout',
    definition: `name: checkout
title: Checkout
rows:
  - panels: [{ endpoint: failing.paths }]
`,
  },
  checked: json(
    'Without faults `errors` is empty; `dashboard` is null if it cannot be read.',
    DASHBOARD_CHECK,
  ),
  check: checkDashboardDraft,
  read: readDashboardFile,
  save: saveDashboard,
});

export const workbenchSearchRoutes = createFileRoutes<SaveSearchParts>({
  noun: 'search',
  nouns: 'searches',
  example: {
    name: 'checkout',
    definition: `name: checkout
title: Checkout fails
search: { q: "level:error request.path:/checkout*", range: 24h }
`,
  },
  checked: json('Without faults `errors` is empty.', ALERT_CHECK),
  check: (parts, definition) => ({ errors: checkSearchDraft(parts, definition).map(toDraftError) }),
  read: readSearchFile,
  save: saveSearch,
});
