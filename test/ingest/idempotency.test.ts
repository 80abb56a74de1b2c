import { afterEach } from 'vitest';
import { openSqliteAnswers } from '../../src/ingest/idempotency/sqlite-answers.ts';
import { temporaryFolder } from '../support/service.ts';
import { idempotencyContract } from './idempotency-contract.ts';

const removals: (() => unknown)[] = [];
afterEach(async () => {
  for (const remove of removals.splice(0)) await remove();
});

idempotencyContract(async () => {
  const folder = await temporaryFolder();
  removals.push(folder.remove);
  return { open: async () => openSqliteAnswers(folder.path) };
});
