import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { createOutbox, writeMessage } from '../../src/alerts/outbox.ts';
import { EVERY_ALERT } from '../../src/keys/alerts/alert-record.ts';
import { openSqliteStore } from '../../src/keys/sqlite-store.ts';
import { alertMessage } from '../support/alert-message.ts';
import { temporaryFolder } from '../support/service.ts';

const folder = await temporaryFolder();
afterAll(folder.remove);

test('a silence covers the messages of its alert, of instances with its labels, until it ends', async () => {
  const control = openSqliteStore(join(folder.path, 'data'));
  const { alerts } = control;
  const outbox = createOutbox(alerts, () => 0);
  for (const alertId of ['silenced', 'other'])
    await alerts.addMessage(
      { id: alertId, receiver: alertId, message: writeMessage({ alertId, message: alertMessage() }) },
      1_000,
    );
  await alerts.addSilence({
    ...{ id: 's', alert: 'silenced', labels: '{"path":"/a"}', untilMs: 2_000, comment: 'x', author: 'cli' },
    createdMs: 1_000,
  });
  const paths = ['/a', '/b'];
  const find = async (name: string, nowMs: number) => {
    const queued = await outbox.next(name, nowMs);
    const isSilenced = await outbox.silenced(queued?.id ?? '', nowMs);
    return paths.filter((path) => isSilenced({ path, host: 'h' }));
  };
  expect(await find('silenced', 1_999)).toEqual(['/a']);
  expect(await find('other', 1_999)).toEqual([]);
  expect(await find('silenced', 2_000)).toEqual([]);
  await alerts.addSilence({
    ...{ id: 't', alert: EVERY_ALERT, labels: '{"path":"/b"}', untilMs: 3_000, comment: 'x', author: 'cli' },
    createdMs: 1_000,
  });
  for (const name of ['silenced', 'other']) expect(await find(name, 2_000)).toEqual(['/b']);
  const waiting = (await outbox.queues()).map(({ receiver }) => receiver);
  expect(waiting.toSorted()).toEqual(['other', 'silenced']);
  await control.close();
});
