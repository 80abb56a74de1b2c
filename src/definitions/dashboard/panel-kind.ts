import { CHART_KINDS } from '../chart/chart.ts';

// Imports nothing of the service: management/dashboard-view.ts uses the names, and the console imports that file.

/** What a panel shows: a kind of chart, or a text of the author. */
export const PANEL_KINDS = [...CHART_KINDS, 'text'] as const;
export type PanelKind = (typeof PANEL_KINDS)[number];
