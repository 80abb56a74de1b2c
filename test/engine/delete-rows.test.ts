import { afterAll, expect, test } from 'vitest';
import { wasCutOff } from '../../src/engine/delete-rows.ts';
import { deleteRows } from '../support/delete-rows.ts';
import { edgeEvents } from '../support/events.ts';
import { openTestStore, storeEvents } from '../support/service.ts';

const { store, close } = await openTestStore();
afterAll(close);
const source = store.registry.getSource('cloudflare.logs.prod');

test('a deletion that failed is known to have left something, until another one is through', async () => {
  await storeEvents(store, source.name, edgeEvents(5, 'gone'), Date.now());
  const pause = async () => {};
  const stopped = new Error('the command was stopped');
  const onParts = () => {
    throw stopped;
  };
  const condition = "project = 'gone'";
  await expect(deleteRows(store.engine, source, condition, { pause, onParts })).rejects.toThrow(stopped);
  expect(await wasCutOff(store.engine, source)).toBe(true);
  await deleteRows(store.engine, source, condition, { pause, onParts() {} });
  expect(await wasCutOff(store.engine, source)).toBe(false);
  const [left] = await store.engine.inspect(`SELECT count() AS rows FROM ${source.table} WHERE ${condition}`);
  expect(Number(left?.['rows'])).toBe(0);
});
