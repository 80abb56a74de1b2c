import { type Static, Type } from 'typebox';
import { PANEL_KINDS } from '../definitions/chart.ts';
import { flag, list, oneOf, orNull, text, textOrNull, texts, UUID } from '../lib/schema.ts';
import { DRAFT_CHECK } from './workbench-view.ts';

// As view.ts: the console imports this file, so this file must not import the service.

const VALUE = Type.Union([text(), texts()]);

const PANEL = Type.Object({
  endpoint: textOrNull('Name of the endpoint; null: a text.'),
  missing: flag('Whether no endpoint has this name now.'),
  parameters: Type.Record(Type.String(), VALUE, { description: 'Values that override those of the page.' }),
  show: orNull(oneOf(PANEL_KINDS, { description: 'Null: as the chart of the endpoint.' })),
  title: textOrNull(),
  columns: texts('None: as the chart of the endpoint.'),
  unit: textOrNull(),
  text: textOrNull(),
});
export type PanelView = Static<typeof PANEL>;

const SUMMARY = { id: UUID, name: text(), title: text(), description: text() };

export const DASHBOARD_SUMMARY = Type.Object({
  ...SUMMARY,
  panels: Type.Integer({ description: 'Panels that the key sees.' }),
});
export type DashboardSummary = Static<typeof DASHBOARD_SUMMARY>;

export const DASHBOARD = Type.Object({
  ...SUMMARY,
  range_seconds: Type.Integer({ description: 'The time before now that it shows at first.' }),
  parameters: list(
    Type.Object({
      name: text(),
      default: text(),
      pinned: textOrNull('The one value that this key may send; null: any.'),
    }),
    'Shared by the panels whose endpoints have them.',
  ),
  rows: list(Type.Object({ height_px: Type.Integer(), panels: list(PANEL) })),
});
export type DashboardView = Static<typeof DASHBOARD>;

export const DASHBOARD_CHECK = Type.Object({
  errors: DRAFT_CHECK.properties.errors,
  dashboard: orNull(DASHBOARD),
});
export type DashboardCheck = Static<typeof DASHBOARD_CHECK>;
