import { describe, expect, test } from 'vitest';
import { findPanelValues } from '../../console/src/page/dashboards/values.ts';
import type { EndpointView } from '../../src/management/view.ts';
import { createParameterView } from '../support/parameter-view.ts';

describe('the values of a panel', () => {
  const nowMs = Date.UTC(2026, 10, 20, 12, 0, 30);
  const hour = { kind: 'last', range: '1h' } as const;
  const find = (
    endpoint: Partial<Pick<EndpointView, 'parameters'>>,
    panel: Record<string, string | string[]> = {},
    shared: Partial<Parameters<typeof findPanelValues>[2]> = {},
  ) =>
    findPanelValues(
      { parameters: [], ...endpoint },
      { parameters: panel },
      { values: {}, range: hour, nowMs, ...shared },
    );

  test('are the pins of the key, then its own, then those of the page, for what its endpoint declares', () => {
    const values = { project: 'page', other: 'page' };
    const declared = (pinned: string | null) => ({
      parameters: [createParameterView('project', { pinned })],
    });
    expect(find(declared(null), {}, { values }).values).toEqual({ project: 'page' });
    expect(find(declared(null), { project: 'own' }, { values }).values).toEqual({ project: 'own' });
    expect(find(declared('pin'), { project: 'own' }, { values }).values).toEqual({ project: 'pin' });
    const list = { parameters: [createParameterView('ids', { type: 'list' })] };
    expect(find(list, { ids: ['a', 'b'] }).values).toEqual({ ids: 'a,b' });
    expect(find({ parameters: [createParameterView('constructor')] }).values).toEqual({});
  });

  test('have the bounds of the range, rounded so that requests share an answer', () => {
    const time = (name: string) => createParameterView(name, { type: 'timestamp' });
    const endpoint = {
      parameters: [time('iso_timestamp_start'), time('iso_timestamp_end'), time('created')],
    };
    expect(find(endpoint).values).toEqual({ iso_timestamp_start: '2026-11-20T11:00:00.000Z' });
    expect(find(endpoint, {}, { nowMs: nowMs + 20_000 }).values).toEqual(find(endpoint).values);
    const range = {
      kind: 'absolute',
      from: '2026-11-20T07:00:07.5Z',
      until: '2026-11-20T08:00:00Z',
    } as const;
    expect(find(endpoint, {}, { range }).values).toEqual({
      iso_timestamp_start: '2026-11-20T07:00:07.500Z',
      iso_timestamp_end: '2026-11-20T08:00:00.000Z',
    });
  });
});
