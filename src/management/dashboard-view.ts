import { type Static, type TSchema, Type } from 'typebox';
import { PANEL_KINDS } from '../definitions/chart.ts';
import { DRAFT_CHECK } from './view.ts';

// As view.ts: the console imports this file, so this file must not import the service.

const orNull = <T extends TSchema>(schema: T) => Type.Union([schema, Type.Null()]);
const VALUE = Type.Union([Type.String(), Type.Array(Type.String())]);

const PANEL = Type.Object({
  endpoint: orNull(Type.String({ description: 'Name of the endpoint; null: a text.' })),
  missing: Type.Boolean({ description: 'Whether no endpoint has this name now.' }),
  parameters: Type.Record(Type.String(), VALUE, { description: 'Values that override those of the page.' }),
  show: orNull(Type.Enum([...PANEL_KINDS], { description: 'Null: as the chart of the endpoint.' })),
  title: orNull(Type.String()),
  columns: Type.Array(Type.String(), { description: 'None: as the chart of the endpoint.' }),
  unit: orNull(Type.String()),
  text: orNull(Type.String()),
});
export type PanelView = Static<typeof PANEL>;

const SUMMARY = {
  id: Type.String({ format: 'uuid' }),
  name: Type.String(),
  title: Type.String(),
  description: Type.String(),
};

export const DASHBOARD_SUMMARY = Type.Object({
  ...SUMMARY,
  panels: Type.Integer({ description: 'Panels that the key sees.' }),
});
export type DashboardSummary = Static<typeof DASHBOARD_SUMMARY>;

export const DASHBOARD = Type.Object({
  ...SUMMARY,
  range_seconds: Type.Integer({ description: 'The time before now that it shows at first.' }),
  parameters: Type.Array(
    Type.Object({
      name: Type.String(),
      default: Type.String(),
      pinned: orNull(Type.String({ description: 'The one value that this key may send; null: any.' })),
    }),
    { description: 'Shared by the panels whose endpoints have them.' },
  ),
  rows: Type.Array(Type.Object({ height_px: Type.Integer(), panels: Type.Array(PANEL) })),
});
export type DashboardView = Static<typeof DASHBOARD>;

export const DASHBOARD_CHECK = Type.Object({
  errors: DRAFT_CHECK.properties.errors,
  dashboard: orNull(DASHBOARD),
});
export type DashboardCheck = Static<typeof DASHBOARD_CHECK>;
