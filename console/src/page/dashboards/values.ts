import type { PanelView } from '../../../../src/management/dashboard-view.ts';
import type { EndpointView } from '../../../../src/management/view.ts';
import { resolveRange, type TimeRange } from '../../format/range.ts';
import { ownMember, type Values } from '../../format/values.ts';
import { findBounds } from '../../ui/chart/rule.ts';

export interface PageState {
  readonly values: Values;
  readonly range: TimeRange;
  readonly refreshSeconds: number | undefined;
  /** When the range was chosen or refreshed by hand. */
  readonly nowMs: number;
}

type Shared = Omit<PageState, 'refreshSeconds'>;

type Called = Pick<EndpointView, 'parameters'>;

/** The values that a panel sends: the pins of the key, its own, those of the page, and what the range sets. */
export function findPanelValues(endpoint: Called, panel: Pick<PanelView, 'parameters'>, shared: Shared) {
  const ofRange = findRangeValues(endpoint, shared);
  const entries = endpoint.parameters.map(({ name, pinned }) => {
    const own = ownMember(panel.parameters, name);
    const text = own === undefined ? undefined : [own].flat().join(',');
    const value = pinned ?? text ?? (ownMember(shared.values, name) || ownMember(ofRange, name) || '');
    return [name, value] as const;
  });
  const values: Readonly<Record<string, string>> = Object.fromEntries(
    entries.filter(([, value]) => value !== ''),
  );
  const missing = endpoint.parameters.flatMap(({ name, required, default: fallback }) =>
    required && fallback === '' && ownMember(values, name) === undefined ? [name] : [],
  );
  return { values, missing };
}

// Requests within a step have one address, and so one entry in the cache of the service.
const STEPS = 288;
const STEP_MS_MIN = 60_000;

function findRangeValues({ parameters }: Called, { range, nowMs }: Shared): Record<string, string> {
  const { fromMs, untilMs } = resolveRange(range, nowMs);
  const step = Math.max(STEP_MS_MIN, (untilMs - fromMs) / STEPS);
  const { from, until } = findBounds(parameters);
  const start = range.kind === 'absolute' ? fromMs : Math.floor(fromMs / step) * step;
  return {
    ...(from !== undefined && { [from]: new Date(start).toISOString() }),
    ...(until !== undefined && range.kind === 'absolute' && { [until]: new Date(untilMs).toISOString() }),
  };
}
