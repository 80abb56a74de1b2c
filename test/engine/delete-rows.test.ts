import { afterAll, expect, test } from 'vitest';
import { wasCutOff } from '../../src/engine/delete-rows.ts';
import { trusted } from '../../src/sql/sql.ts';
import { deleteRows } from '../support/delete-rows.ts';
import { edgeEvents } from '../support/events.ts';
import { openTestStore, storeEvents } from '../support/service.ts';

const { core, close } = await openTestStore();
afterAll(close);
const source = core.registry.getSource('cloudflare.logs.prod');

test('a deletion that failed is known to have left something, until another one is through', async () => {
  await storeEvents(core, source.name, edgeEvents(5, 'gone'), Date.now());
  const pause = async () => {};
  const stopped = new Error('the command was stopped');
  const onParts = () => {
    throw stopped;
  };
  const condition = "project = 'gone'";
  await expect(deleteRows(core.engine, source, condition, { pause, onParts })).rejects.toThrow(stopped);
  expect(await wasCutOff(core.engine, source)).toBe(true);
  await deleteRows(core.engine, source, condition, { pause, onParts() {} });
  expect(await wasCutOff(core.engine, source)).toBe(false);
  const [left] = await core.engine.inspect(
    trusted(`SELECT count() AS rows FROM ${source.table} WHERE ${condition}`),
  );
  expect(Number(left?.['rows'])).toBe(0);
});
