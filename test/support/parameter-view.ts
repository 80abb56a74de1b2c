import type { EndpointView } from '../../src/management/view.ts';

type ParameterView = EndpointView['parameters'][number];

/** A parameter of an endpoint as the console gets it. */
export const createParameterView = (name: string, fields: Partial<ParameterView> = {}): ParameterView => ({
  ...{ name, type: 'string', control: 'text', required: false, description: '', default: '' },
  ...{ values: [], otherwise: null, pinned: null, search: null, ...fields },
});
