import { FIELDS } from '../routes/key-body.ts';
import { NULLABLE_TEXT, NULLABLE_TIME, object, plain, type Schema } from './schema.ts';

const names: Schema = { type: ['array', 'null'], items: { type: 'string' }, description: 'Null: all.' };

const GRANT = {
  scopes: plain(FIELDS.scopes),
  endpoints: names,
  sources: names,
  pins: { type: 'object', additionalProperties: { type: 'string' } },
  rate: plain(FIELDS.rate),
};

const KEY = {
  id: { type: 'string' },
  name: { type: 'string' },
  description: { type: 'string' },
  ...GRANT,
  created_at: NULLABLE_TIME,
  expires_at: NULLABLE_TIME,
  last_used_at: NULLABLE_TIME,
  revoked_at: NULLABLE_TIME,
  successor: { ...NULLABLE_TEXT, description: 'Id of the key that it was rotated to.' },
};

/** A key as src/http/routes/key-body.ts shows it. */
export const KEY_VIEW = object(KEY);

export const MADE_KEY_VIEW = object({
  key: { type: 'string', description: 'The secret. It is shown this once.' },
  ...KEY,
});

export const TOKEN_VIEW = object({
  token: { type: 'string' },
  id: { type: 'string' },
  ...GRANT,
  expires_at: NULLABLE_TIME,
});

export const KEY_ENTRY_VIEW = object({
  id: { type: 'integer' },
  at: NULLABLE_TIME,
  action: { type: 'string' },
  key_id: { type: 'string' },
  actor: { type: 'string' },
  detail: {},
  count: { type: 'integer' },
});
