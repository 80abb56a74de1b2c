import { Type } from 'typebox';
import { ENDPOINT_NAME } from '../../definitions/endpoint.ts';
import type { Caller } from '../../keys/keyring.ts';
import { closed } from '../../lib/schema.ts';
import { DASHBOARD_CHECK } from '../../management/dashboard-view.ts';
import { toDashboardView } from '../../management/dashboards.ts';
import { ALERT_CHECK, ALERT_FILE, SAVED_ALERT } from '../../management/workbench-view.ts';
import {
  checkText,
  EDITED_ALERTS,
  EDITED_DASHBOARDS,
  EDITED_SEARCHES,
  type EditedKind,
  readDefinitionFile,
  saveDefinitionFile,
} from '../../workbench/definition-file.ts';
import { toDraftError } from '../../workbench/draft.ts';
import { requireAuthor } from '../../workbench/workbench.ts';
import type { AppParts } from '../parts.ts';
import { getCaller } from '../plugins/auth.ts';
import { defineRoute, json, jsonBody, type RouteGroup } from '../route.ts';

const SAVE_FILE = closed({
  name: ENDPOINT_NAME,
  definition: Type.String(),
  version: Type.Union([Type.String(), Type.Null()], { expected: 'the version that was read, or null' }),
});

interface Shown<T> {
  /** A definition without faults, by this name. */
  readonly example: { readonly name: string; readonly definition: string };
  /** The response of a check. */
  readonly checked?: ReturnType<typeof json>;
  /** What it has besides the faults. */
  readonly show?: (item: T | undefined, parts: AppParts, caller: Caller) => object;
}

/** Serves the files of a kind of definition to the console. */
function createFileRoutes<T>(kind: EditedKind<T>, { example, checked, show }: Shown<T>): RouteGroup {
  const { noun, nouns } = kind;
  const a = /^[aeiou]/.test(noun) ? 'an' : 'a';
  return {
    bodyBytesMax: 512 * 1024, // a text of 64 KiB in JSON
    routes: [
      defineRoute(`GET /api/workbench/${nouns}/:name`, ['manage'], {
        checkCaller: requireAuthor,
        summary: `The file of ${a} ${noun} as a text`,
        operation: { id: `get_${noun}_file`, tag: 'console' },
        answer: { 200: json('The present state.', ALERT_FILE) },
        errors: ['not_found', 'conflict'],
        handle: (parts, { params }) => readDefinitionFile(kind, parts, params.name),
      }),
      defineRoute(`POST /api/workbench/${nouns}/check`, ['manage'], {
        checkCaller: requireAuthor,
        summary: `The faults of the text of ${a} ${noun}`,
        operation: { id: `check_${noun}`, tag: 'console' },
        body: jsonBody(closed({ definition: Type.String() }), {
          example: { definition: example.definition },
        }),
        answer: { 200: checked ?? json('Without faults `errors` is empty.', ALERT_CHECK) },
        async handle(parts, request) {
          const { faults, item } = checkText(kind, parts, request.body.definition);
          return { errors: faults.map(toDraftError), ...show?.(item, parts, getCaller(request)) };
        },
      }),
      defineRoute(`POST /api/workbench/${nouns}/save`, ['manage'], {
        checkCaller: requireAuthor,
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
        handle: (parts, request) =>
          saveDefinitionFile(kind, parts, { request: request.body, caller: getCaller(request) }),
      }),
    ],
  };
}

export const workbenchAlertRoutes = createFileRoutes(EDITED_ALERTS, {
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
});

export const workbenchDashboardRoutes = createFileRoutes(EDITED_DASHBOARDS, {
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
  show: (item, parts, caller) => ({
    dashboard: item === undefined ? null : toDashboardView(parts, caller, item),
  }),
});

export const workbenchSearchRoutes = createFileRoutes(EDITED_SEARCHES, {
  example: {
    name: 'checkout',
    definition: `name: checkout
title: Checkout fails
search: { q: "level:error request.path:/checkout*", range: 24h }
`,
  },
});
