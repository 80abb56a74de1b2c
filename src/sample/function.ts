import { createWeighted, type Random } from '../lib/random.ts';

/** A serverless function of a project. */
export interface SampleFunction {
  readonly id: string;
  readonly name: string;
  readonly deploymentId: string;
  readonly version: string;
  readonly region: string;
  readonly method: 'GET' | 'POST';
  /** Of the execution time: half of the invocations take less. */
  readonly medianMs: number;
  /** Deviation of the execution time's logarithm. */
  readonly sigma: number;
}

const REGIONS = ['eu-central-1', 'us-east-1', 'ap-southeast-2'];

// The report is the slow one: it is what a reader of functions.invocation-stats should find.
const FUNCTIONS = [
  { weight: 34, name: 'stripe-webhook', method: 'POST', medianMs: 85, sigma: 0.5 },
  { weight: 26, name: 'search', method: 'GET', medianMs: 42, sigma: 0.6 },
  { weight: 18, name: 'resize-image', method: 'POST', medianMs: 240, sigma: 0.7 },
  { weight: 14, name: 'send-receipt', method: 'POST', medianMs: 130, sigma: 0.4 },
  { weight: 8, name: 'render-report', method: 'POST', medianMs: 3_800, sigma: 0.45 },
] as const;

/** Makes the functions of one project; what it returns picks that of an invocation, by how often each is called. */
export function createFunctionPicker(random: Random): (random: Random) => SampleFunction {
  const region = random.pick(REGIONS);
  return createWeighted(
    FUNCTIONS.map(({ weight, ...rest }) => {
      const id = random.uuid();
      const version = String(random.whole(1, 40));
      return [weight, { id, deploymentId: `${id}_${version}`, version, region, ...rest }] as const;
    }),
  );
}
