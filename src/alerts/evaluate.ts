import type { Alert } from '../definitions/alert.ts';
import type { Endpoint } from '../definitions/endpoint.ts';
import type { Registry } from '../definitions/registry.ts';
import { laneOf } from '../engine/lanes.ts';
import { messageOf } from '../errors.ts';
import { parseExactJson } from '../lib/json.ts';
import { parseParameters } from '../query/parameters.ts';
import { createQuestion } from '../query/question.ts';
import type { Run } from '../query/run.ts';
import { type Judgement, judge, ROWS_MAX, type Row } from './condition.ts';

export interface EvaluateOptions {
  readonly registry: Pick<Registry, 'getEndpoint'>;
  /** Runs questions uncached. */
  readonly run: Run;
}

/** Asks the endpoint of an alert. @param nowMs `@now` of the query, ms since the epoch @throws only the signal's reason */
export type Evaluate = (
  alert: Alert,
  at: { readonly nowMs: number; readonly signal?: AbortSignal },
) => Promise<Judgement>;

// No key has this id: those of the environment are called private and public, others are hexadecimal.
const LANE_KEY = 'alerts';

/** Alerts have their own lanes in the fair queue: neither they nor callers delay the others. */
export function createEvaluate({ registry, run }: EvaluateOptions): Evaluate {
  const bounded = new WeakMap<Endpoint, Endpoint>();

  /** One row beyond the bounds shows that there are more. The runner keeps the statement of the copy. */
  function boundRows(endpoint: Endpoint): Endpoint {
    const known = bounded.get(endpoint);
    if (known !== undefined) return known;
    const copy = { ...endpoint, maxRows: Math.min(endpoint.maxRows, ROWS_MAX) + 1 };
    bounded.set(endpoint, copy);
    return copy;
  }

  return async (alert, { nowMs, signal }) => {
    try {
      const own = registry.getEndpoint(alert.endpoint);
      const endpoint = boundRows(own);
      const values = parseParameters(endpoint, alert.parameters);
      const lane = laneOf(LANE_KEY, alert.name);
      const { body } = await run(createQuestion(endpoint, values), { lane, signal, instantMs: nowMs });
      const { result: rows } = parseExactJson(body.toString()) as { result: Row[] }; // written by query/format.ts
      return judge(alert, { rows, maxRows: own.maxRows });
    } catch (error) {
      signal?.throwIfAborted();
      return { outcome: { kind: 'failed', reason: messageOf(error) }, notes: [] };
    }
  };
}
