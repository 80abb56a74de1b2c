import { afterAll, beforeAll, describe } from 'vitest';
import { openPostgresAnswers } from '../../src/ingest/idempotency/postgres-answers.ts';
import { hasPostgres, startPostgres, type TestPostgres } from '../../trial/postgres.ts';
import { idempotencyContract } from './idempotency-contract.ts';

let postgres: TestPostgres;

describe.skipIf(!hasPostgres)('in PostgreSQL', () => {
  beforeAll(async () => {
    postgres = await startPostgres();
  });
  afterAll(() => postgres?.close());

  idempotencyContract(async () => {
    const url = await postgres.createDatabase();
    return { open: () => openPostgresAnswers(url) };
  });
});
